import { toast } from "sonner";
import type { EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";

/** So many names are told; of more, how many there are. */
const MOST_NAMES = 3;

/** Long enough to look what has become of the canvas, and to take it back. */
const SHOWN_MS = 10_000;

/** "Disconnected from A, B, and 2 others". */
export function cutWords(names: readonly string[]): string {
  const [shown, more] = [names.slice(0, MOST_NAMES), names.length - MOST_NAMES];
  const list = more > 0 ? [...shown, `${more} ${more === 1 ? "other" : "others"}`] : shown;
  return `Disconnected from ${new Intl.ListFormat("en").format(list)}`;
}

/** Tells which connections a move has cost. It offers to take the move back as long as that is the last step. */
export function toastCut(editor: EditorStore, names: readonly string[]): void {
  if (names.length === 0) return;
  const step = editor.getState().history;
  const id = toast.info(cutWords(names), {
    duration: SHOWN_MS,
    action: { label: "Undo", onClick: () => editor.getState().undo() },
    onDismiss: () => stop(),
    onAutoClose: () => stop(),
  });
  const stop = editor.subscribe(({ history }) => {
    if (history === step) return;
    stop();
    toast.dismiss(id);
  });
}
