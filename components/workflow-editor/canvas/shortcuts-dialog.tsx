"use client";

import { Fragment, useState } from "react";
import { Dialog } from "#components/ui/dialog.tsx";
import { Kbd, MOD } from "#components/ui/kbd.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { hasSingleKeys, keysOf, SHORTCUT_GROUPS, type ShortcutId, setSingleKeys } from "#components/workflow-editor/canvas/shortcuts.ts";
import { useCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/** All keys of the editor, from the table that it listens by. */
export function ShortcutsDialog() {
  const ui = useCanvasUiStore();
  return (
    <Dialog onClose={() => ui.setState({ isHelpOpen: false })} title="Keyboard shortcuts" size="lg">
      <SingleKeySwitch />
      <div className="columns-2 gap-8 max-sm:columns-1">
        {Object.entries(SHORTCUT_GROUPS).map(([group, shortcuts]) => (
          <section key={group} aria-label={group} className="mb-4 break-inside-avoid">
            <h3 className="pb-1 text-12 text-ink-soft">{group}</h3>
            <dl className="flex flex-col">
              {Object.entries(shortcuts).map(([id, { label }]) => (
                <div key={id} className="flex items-center justify-between gap-3 border-t py-1.5 text-14">
                  <dt className="min-w-0">{label}</dt>
                  <dd className="flex shrink-0 flex-wrap items-center justify-end gap-1 text-12 text-ink-soft">
                    <Keys id={id as ShortcutId} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

const Keys = ({ id }: { id: ShortcutId }) =>
  keysOf(id, MOD).map((keys, index) => (
    <Fragment key={keys.join(" ")}>
      {index > 0 && " or "}
      <span className="flex gap-0.5">
        {keys.map((key) => (
          <Kbd key={key}>{key}</Kbd>
        ))}
      </span>
    </Fragment>
  ));

function SingleKeySwitch() {
  const [isOn, setIsOn] = useState(hasSingleKeys);
  return (
    <div className="flex items-center justify-between gap-4 rounded-md border px-3 py-2 text-14">
      <span>
        Single keys such as <Kbd>N</Kbd>
        <span className="block text-12 text-ink-soft">Switch them off when you speak to your computer or type by accident.</span>
      </span>
      <Switch
        label="Single-key shortcuts"
        checked={isOn}
        onCheckedChange={(next) => {
          setSingleKeys(next);
          setIsOn(next);
        }}
      />
    </div>
  );
}
