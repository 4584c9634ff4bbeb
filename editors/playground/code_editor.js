// CodeMirror in place of the playground's text area, which stays the text that the page reads and sends.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const LANGUAGES = { cpp, python };
const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.self], color: "var(--k)" },
  { tag: tags.typeName, color: "var(--t)" },
  { tag: tags.string, color: "var(--s)" },
  { tag: tags.comment, color: "var(--c)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--n)" },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--p)" },
  { tag: tags.function(tags.variableName), color: "var(--f)" },
]);

// CodeMirror draws marks with images in `data:` addresses, which the page's policy forbids: here they are borders and
// decorated text, in the page's own colors.
const marked = (severity) => ({
  [`.cm-lintRange-${severity}`]: {
    backgroundImage: "none",
    textDecoration: `underline wavy var(--${severity})`,
    textDecorationSkipInk: "none",
  },
  [`.cm-lint-marker-${severity}`]: {
    content: "none",
    width: "8px",
    height: "8px",
    borderRadius: "50%",
    background: `var(--${severity})`,
  },
  [`.cm-diagnostic-${severity}`]: { borderLeftColor: `var(--${severity})` },
});
const LOOK = EditorView.theme({
  "&": { height: "100%", color: "inherit", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace', lineHeight: "20px" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { background: "none", color: "var(--faint)", borderRight: "1px solid var(--line)" },
  ".cm-gutter-lint .cm-gutterElement": { display: "flex", alignItems: "center", justifyContent: "center" },
  ".cm-activeLine": { background: "none" },
  "&.cm-focused .cm-activeLine": { boxShadow: "inset 0 0 0 1px var(--line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--mark)",
  },
  "&.cm-focused .cm-matchingBracket": { background: "none", boxShadow: "inset 0 0 0 1px var(--faint)" },
  ".cm-tooltip, .cm-panels": { background: "var(--ground)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-tooltip": { maxWidth: "min(480px, 90vw)" },
  ".cm-panel.cm-panel-lint ul [aria-selected], .cm-panel.cm-panel-lint ul:focus [aria-selected]": {
    background: "var(--mark)",
  },
  ".cm-diagnosticAction": { background: "none", color: "var(--accent)", border: "1px solid currentColor" },
  ...marked("error"),
  ...marked("warning"),
  ...marked("info"),
});

// An editor over `area`. `chosen` is called with the row of a finding that the user asks about.
globalThis.codeEditor = (area, chosen) => {
  const host = document.createElement("div");
  host.className = "code-editor";
  area.after(host);
  area.hidden = true;
  // In a shadow root, styles are objects: the page's policy allows no other style elements than its own.
  const root = host.attachShadow({ mode: "open" });
  const language = new Compartment();
  let loading = false;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lintGutter(),
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        syntaxHighlighting(COLORS),
        language.of([]),
        LOOK,
        EditorState.tabSize.of(4),
        EditorView.contentAttributes.of({ "aria-label": "Your code", tabindex: "0" }),
        // Tab leaves the editor, as it leaves the text area.
        keymap.of([...lintKeymap, ...historyKeymap, ...defaultKeymap.filter((one) => one.key !== "Mod-Enter")]),
        // What a browser itself puts in the place of lines has style attributes, which the policy forbids.
        EditorView.domEventHandlers({
          beforeinput(event, view) {
            if (event.inputType !== "insertText" || event.isComposing || view.state.selection.main.empty) return false;
            view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
            event.preventDefault();
            return true;
          },
        }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || loading) return;
          area.value = update.state.doc.toString();
          area.dispatchEvent(new Event("input"));
        }),
      ],
    }),
  });
  const at = (row, column) => {
    const line = view.state.doc.line(Math.min(row, view.state.doc.lines));
    // Columns count characters, of which some are two units of a string.
    return Math.min(line.from + [...line.text].slice(0, column - 1).join("").length, line.to);
  };
  return {
    show(text) {
      loading = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      loading = false;
    },
    colorAs(name) {
      view.dispatch({ effects: language.reconfigure(LANGUAGES[name]?.() ?? []) });
    },
    mark(findings) {
      const marks = findings.map(({ rule, row, severity, message, mark }) => ({
        from: at(mark[0], mark[1]),
        to: at(mark[2], mark[3]),
        severity,
        source: rule,
        message,
        actions: [{ name: "Show", apply: () => chosen(row) }],
      }));
      view.dispatch(setDiagnostics(view.state, marks));
    },
  };
};
