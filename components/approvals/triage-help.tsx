"use client";

import { Dialog } from "#components/ui/dialog.tsx";
import { Kbd } from "#components/ui/kbd.tsx";

const KEYS: readonly [keys: readonly string[], words: string][] = [
  [["j", "↓"], "Next review"],
  [["k", "↑"], "The one before"],
  [["a"], "Approve"],
  [["r"], "Reject"],
  [["1", "2", "3", "4"], "The first, second, … choice"],
  [["e"], "Edit the text, or write a comment"],
  [["x"], "Select it, for several at once"],
  [["u"], "Undo"],
  [["?"], "This list"],
];

/** What the keys of the page do. */
export const TriageHelp = ({ onClose }: { onClose: () => void }) => (
  <Dialog onClose={onClose} title="Keys" size="sm">
    <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 text-14">
      {KEYS.map(([keys, words]) => (
        <div key={words} className="contents">
          <dt className="flex gap-1">
            {keys.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
