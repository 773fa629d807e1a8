import type { Metadata } from "next";
import { Fragment } from "react";
import { Kbd } from "#components/ui/kbd.tsx";
import { keysOf, SHORTCUT_GROUPS, type ShortcutId } from "#components/workflow-editor/canvas/shortcuts.ts";

export const metadata: Metadata = { title: "The editor" };

const Keys = ({ id }: { id: ShortcutId }) =>
  keysOf(id, "Ctrl").map((keys, index) => (
    <Fragment key={keys.join(" ")}>
      {index > 0 && " or "}
      {keys.map((key, place) => (
        <Fragment key={key}>
          {place > 0 && " "}
          <Kbd>{key}</Kbd>
        </Fragment>
      ))}
    </Fragment>
  ));

export default function Editor() {
  return (
    <article className="prose max-w-168">
      <h1>The editor</h1>
      <p>
        A workflow is drawn on the canvas. Beside it stand what can be added, the settings of the selected node, and the outline; below it,
        the run. What you do is kept as a draft at once, and <strong>Undo</strong> takes back any step.
      </p>
      <h2>The panel of a node</h2>
      <p>
        <strong>Settings</strong> holds a node’s fields. Where a text may hold expressions, <code>{"{{"}</code> or a slash lists everything
        upstream with what it was in the last run: the run on the screen, else the latest that has ended. Under the field stands what the
        text comes to with those values. A name that cannot be read is underlined, there and on the card, and a click on “Did you mean …?”
        puts it right. Under <strong>Connections</strong> the same values are a tree: a click puts one in at the caret, a drag where you
        drop it.
      </p>
      <p>
        A condition is checked while you type it, and tried on the last run: “With last run → True”. An agent can be made or changed in a
        dialog, without leaving the workflow. A form trigger shows the form that a run will ask for, and a Review node the page on which
        people decide, filled in from the last run.
      </p>
      <p>
        <strong>Last run</strong> shows what the node was given and what it left, with tokens, cost and time; <strong>Relations</strong>{" "}
        what comes before and after it and which fields read it. A click goes there.
      </p>
      <h2>The outline</h2>
      <p>
        <strong>Outline</strong> (or <Kbd>O</Kbd>) shows the same workflow as a list to read from top to bottom: the trigger, then each step
        in the order of the flow. The ways of a branch, the body of a loop and paths side by side are groups; a step that several paths lead
        to stands once, after them, and the ends of the paths say “continues at …”. Steps that nothing leads to are under “Not connected”.
        Each line says in words how the step stands: its problems, and in a run whether it runs, waits, failed or was skipped.
      </p>
      <p>
        Everything can be changed there too: rename, insert, move up or down, connect, duplicate, delete. The outline and the canvas share
        one selection, so it is also the quickest way through a large workflow, and a screen reader can work with it alone.
      </p>
      <h2>Search</h2>
      <p>
        <Kbd>Ctrl</Kbd> <Kbd>F</Kbd> searches names, types, agents and all settings of the nodes: prompts, conditions, expressions.{" "}
        <Kbd>Enter</Kbd> goes to the next match, <Kbd>Shift</Kbd> <Kbd>Enter</Kbd> to the one before. Press the keys again for the browser’s
        own search.
      </p>
      <h2>Keyboard</h2>
      <p>
        On a Mac, <Kbd>⌘</Kbd> takes the place of <Kbd>Ctrl</Kbd>. In the editor <Kbd>?</Kbd> shows this list, and there single keys such as{" "}
        <Kbd>N</Kbd> can be switched off.
      </p>
      {Object.entries(SHORTCUT_GROUPS).map(([group, shortcuts]) => (
        <Fragment key={group}>
          <h3>{group}</h3>
          <table>
            <tbody>
              {Object.entries(shortcuts).map(([id, { label }]) => (
                <tr key={id}>
                  <td className="whitespace-nowrap">
                    <Keys id={id as ShortcutId} />
                  </td>
                  <td>{label}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Fragment>
      ))}
      <h2>On a phone</h2>
      <p>A phone shows the workflow, its outline and its runs, starts a run, and is enough to approve or reject what waits.</p>
    </article>
  );
}
