"use client";

import { Keyboard, ListTree, Search } from "lucide-react";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/workflow-editor/canvas/control-bar.tsx";
import { useCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";

/** On the floating bar: finding one's way in the workflow. */
export function CanvasTools() {
  const ui = useCanvasUiStore();
  return (
    <>
      <IconButton label="Search in canvas" icon={<Search />} shortcut={[MOD, "F"]} onClick={() => ui.getState().openSearch()} />
      <span className="max-md:hidden">
        <IconButton label="Keyboard shortcuts" icon={<Keyboard />} shortcut={["?"]} onClick={() => ui.setState({ isHelpOpen: true })} />
      </span>
    </>
  );
}

/** Opens the outline; on a phone as a sheet. */
export function OutlineButton() {
  const ui = useCanvasUiStore();
  return <IconButton label="Outline" icon={<ListTree />} shortcut={["O"]} onClick={() => ui.setState({ isOutlineAsked: true })} />;
}
