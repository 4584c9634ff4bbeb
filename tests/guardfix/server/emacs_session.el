;;; Run by Emacs in batch mode: opens a file, waits for Eglot's diagnostics, hovers, edits, and applies the first fix.
;;; Prints one line of JSON for each step. GUARDFIX_SETUP is what docs/editors.md says to put into init.el.
(require 'package)
(package-initialize)
(require 'eglot)
(require 'flymake)
(require 'json)
(require 'cl-lib)

(defun say (step value)
  (princ (concat (json-encode (list step value)) "\n")))

(defun wait-for (what test)
  "Wait until TEST is true, and return what it says; end with the name of WHAT was waited for otherwise."
  (let ((end (time-add nil 60)) found)
    (while (not (setq found (funcall test)))
      (when (time-less-p end nil)
        (say "failed" what)
        (kill-emacs 1))
      (accept-process-output nil 0.05))
    found))

(defun column-of (diagnostic)
  "The characters before DIAGNOSTIC on its line."
  (save-excursion
    (goto-char (flymake-diagnostic-beg diagnostic))
    (- (point) (line-beginning-position))))

(defun found-at (line column)
  "The one diagnostic, if it stands there; until the server has answered, it stands where it stood in the old text."
  (flymake-start)
  (let ((found (flymake-diagnostics)))
    (and (= (length found) 1)
         (= (line-number-at-pos (flymake-diagnostic-beg (car found))) line)
         (= (column-of (car found)) column)
         (car found))))

(load (getenv "GUARDFIX_SETUP"))
(setq eglot-sync-connect 60 eglot-autoshutdown nil eglot-confirm-server-initiated-edits nil)
(find-file (getenv "GUARDFIX_FILE"))
(c++-mode)
(apply #'eglot (eglot--guess-contact))
(flymake-mode 1)

(let ((found (wait-for "a diagnostic" (lambda () (found-at 5 11)))))
  (say "diagnostic" (list (column-of found) (flymake-diagnostic-text found)))
  (goto-char (+ (flymake-diagnostic-beg found) 4)))

(let* ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams)))
       (contents (plist-get hover :contents)))
  (say "hover" (plist-get contents :value)))

;; Typing in front of it, unsaved.
(save-excursion
  (goto-char (point-min))
  (insert "// \u4e2d\U0001f600\n\n"))
(eglot--signal-textDocument/didChange) ; Emacs does so once it is idle, which it never is in batch mode
(let ((found (wait-for "the moved diagnostic" (lambda () (found-at 7 11)))))
  (say "moved" (line-number-at-pos (flymake-diagnostic-beg found)))
  (goto-char (flymake-diagnostic-beg found)))

;; The person takes the first of what is offered.
(cl-letf (((symbol-function 'completing-read)
           (lambda (_prompt offered &rest _)
             (say "action" (car (all-completions "" offered)))
             (car (all-completions "" offered)))))
  (let ((last-nonmenu-event ?a)) ; by a key, and not by the mouse
    (eglot-code-actions (point) (1+ (point)) nil t)))
(eglot--signal-textDocument/didChange)
(wait-for "no diagnostic" (lambda () (flymake-start) (null (flymake-diagnostics))))
(say "text" (buffer-string))
(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server) nil 20)
(kill-emacs 0)
