-- Run by Neovim without a screen: opens a file, waits for diagnostics, hovers, and applies the first fix.
-- Prints one line of JSON for each step.
local function say(step, value)
  io.stdout:write(vim.fn.json_encode({ step, value }) .. "\n")
end

local function fail(what)
  say("failed", what)
  vim.cmd("cquit")
end

local python, file = vim.env.GUARDFIX_PYTHON, vim.env.GUARDFIX_FILE
vim.cmd("edit " .. vim.fn.fnameescape(file))
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start_client({
  name = "guardfix",
  cmd = { python, "-m", "guardfix", "server" },
  root_dir = vim.fn.fnamemodify(file, ":h"),
})
if not id then
  fail("the client did not start")
end
vim.lsp.buf_attach_client(buffer, id)

local function wait_for_diagnostics(count)
  if not vim.wait(60000, function() return #vim.diagnostic.get(buffer) == count end, 20) then
    fail(vim.diagnostic.get(buffer))
  end
  return vim.diagnostic.get(buffer)
end

local found = wait_for_diagnostics(1)[1]
say("diagnostic", { found.lnum, found.col, found.end_col, found.code, found.source })

vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col + 4 })
local hover = vim.lsp.buf_request_sync(buffer, "textDocument/hover", vim.lsp.util.make_position_params(), 60000)
say("hover", hover[id].result.contents.value)

-- Typing in front of it, unsaved.
vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { "// \u{4e2d}\u{1f600}", "" })
vim.wait(60000, function()
  local one = vim.diagnostic.get(buffer)[1]
  return one ~= nil and one.lnum == found.lnum + 2
end, 20)
found = wait_for_diagnostics(1)[1]
say("moved", found.lnum)

local parameters = vim.lsp.util.make_range_params()
parameters.range.start = { line = found.lnum, character = found.col }
parameters.range["end"] = parameters.range.start
parameters.context = { diagnostics = {} }
local actions = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", parameters, 60000)[id].result
say("action", actions[1].title)
vim.lsp.util.apply_workspace_edit(actions[1].edit, vim.lsp.get_client_by_id(id).offset_encoding)
wait_for_diagnostics(0)
say("text", vim.api.nvim_buf_get_lines(buffer, 0, -1, false))
vim.lsp.stop_client(id)
vim.wait(10000, function() return vim.lsp.client_is_stopped(id) end, 20)
vim.cmd("qall!")
