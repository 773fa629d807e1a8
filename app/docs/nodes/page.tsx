import type { Metadata } from "next";
import { Example } from "#app/docs/example.tsx";

export const metadata: Metadata = { title: "Nodes" };

const nodes: readonly [string, string][] = [
  ["Agent", "Asks one of the project’s agents. With “Go on” as its answer to errors, the error text is passed on as its output."],
  ["Branch", "Goes one of two ways, by a Python condition, and passes on what came to it. Its output is True or False."],
  ["Loop", "Runs its body once for each item of a list. Its output is the JSON array of the results, in the order of the items."],
  ["Review", "Waits until a person approves or rejects, and passes on what came to it; see Reviews."],
  [
    "Output",
    "Keeps a value as a result of the run, and passes it on. Several are kept by label. What was reached is shown while the run waits, and kept when it fails or is cancelled.",
  ],
  ["Terminate", "Ends the whole run here, completed or failed. What is under way elsewhere is aborted and skipped."],
  [
    "Note",
    "A remark on the canvas, without effect. Double-click it, or press F2, to write in Markdown. Drag its corner, or set its width and height in the panel, to give it more room.",
  ],
];

export default function Nodes() {
  return (
    <article className="prose max-w-168">
      <h1>Nodes</h1>
      <p>
        A node starts once every edge that leads to it is settled: it runs when at least one of them brings something, and is skipped when
        none does. Branches that do not depend on each other run at the same time.
      </p>
      <table>
        <tbody>
          {nodes.map(([name, meaning]) => (
            <tr key={name}>
              <td className="whitespace-nowrap font-medium">{name}</td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        Markdown, in notes, outputs, reviews and answers of agents, is shown without its images: a link with the image’s words and its host
        stands in the place of each. So nobody learns that a text was looked at, and no address carries away what the text was made of.
      </p>
      <h2>What comes to a node</h2>
      <p>
        An Agent, Output, Review or Terminate whose field is empty takes the output of the node before it; of several, their outputs in the
        order of the connections, with a blank line between. A Branch and a Review only decide, so their content goes on: what follows takes
        what came to them, through several of them if need be, and each node’s output once. The decision itself is read by name, as{" "}
        <code>{"{{Branch.output}}"}</code> (<code>True</code>) or <code>{"{{Review.output}}"}</code> (<code>approved: …</code>).
      </p>
      <h2>Conditions</h2>
      <p>
        A condition is one Python expression. It can use <code>output</code> (what the node before it left behind, of a Review its
        decision), <code>trigger_output</code> and <code>node_outputs</code> (outputs by agent’s name or label), all of them text, and the
        modules <code>re</code>, <code>json</code> and <code>math</code>. It runs in a sandbox without files, network or other imports, in a
        process of its own that is stopped after a second, or when it takes too much memory. The sandbox knows f-strings, and neither{" "}
        <code>%</code> nor <code>.format</code> for texts; in place of a method such as <code>str.lower</code> hand on a lambda. What it
        cannot run is told while you type.
      </p>
      <Example file="conditions.py" label="conditions" />
      <h2>Loops</h2>
      <p>
        Items come from a list, or from text that is a JSON array. Connect what is to happen for each item to <em>body</em>, and what comes
        after to <em>done</em>. The body is everything that can be reached from it, short of what follows <em>done</em> and of nodes that
        read the loop’s own output: those run once, after the last item. Inside the body, <code>{"{{Loop.current_item}}"}</code> and{" "}
        <code>{"{{Loop.index}}"}</code> (from 0) say where you are.
      </p>
      <p>
        On the canvas a loop is a frame around its body. Drop a node into the frame and it joins the body after the nearest free end to its
        left, drag one out and what came before it leads on to what came after. What is selected goes in or out as one, with its own
        connections; a message says what it was disconnected from. Moving, copying or deleting the frame takes the body along;{" "}
        <em>Collapse loop</em> draws it as one card.
      </p>
      <ul>
        <li>An item’s result is the output of the node that ends the body; of several that were reached, an object by label.</li>
        <li>“At a time” lets items run side by side. The order of the results stays.</li>
        <li>A failed item fails the loop, unless you let it go on: then its place holds {'{"error": "…"}'}.</li>
        <li>A list longer than “Most items” fails the loop before the first one.</li>
        <li>Bodies may hold branches, reviews, Outputs and other loops. An Output inside counts as the list of its values.</li>
        <li>A review that is rejected with nothing attached stops its loop and ends the run as rejected.</li>
      </ul>
      <h2>Nodes that are switched off</h2>
      <p>
        A node with <code>disabled: true</code> in its data (<em>Disable</em> in its menu, or the key D) does nothing and passes on what it
        was given: a branch by true, a review by approved, a loop by done with its body skipped. Outputs and Terminates that are switched
        off keep and end nothing. The trigger cannot be switched off; the workflow can.
      </p>
      <h2>Pinned outputs</h2>
      <p>
        <code>{'pinned: {"output": "…"}'}</code> in a node’s data (<em>Pin output</em>) stands in for the node in runs of the editor’s
        draft: the text is its output, and nothing is called, asked or waited for. Of a branch it is True or False, of a review approved or
        rejected with an optional comment (<code>approved: Fine</code>), of a loop a JSON array, and its body does not run. Inside a loop it
        holds for every item. Agents, branches, reviews and loops can be pinned, with at most 65,536 characters each. Saved versions keep
        the pins and run their nodes: executions over REST, schedules, webhooks and HTTP triggers never take them. <code>node_results</code>{" "}
        marks what was taken with <code>pinned: true</code>. A run of a draft that is run again takes its pins again.
      </p>
      <h2>Large results</h2>
      <p>
        An output of more than 256 Ki characters is shown by its beginning, with the address of the whole. One node may be given, and leave
        behind, 16 Mi characters at most, and all Outputs of a run together 128 Mi; what a run holds at one time, of loops the Outputs and
        the items under way, has 512 Mi at most. What is more fails with a sentence that says so. Of an error the first 10,000 characters
        are kept.
      </p>
      <h2>Run again</h2>
      <p>
        A run that has ended can be run again: from its beginning or from one node on, as it was or with the workflow as it is saved now.
        From a node on, finished results of everything that does not depend on that node are taken over and marked as reused; no model is
        asked for them again. Nodes that the workflow has gained since then run, and so does what comes after them.
      </p>
    </article>
  );
}
