import type { Metadata } from "next";
import Link from "next/link";

export const metadata: Metadata = { title: "First steps" };

export default function FirstSteps() {
  return (
    <article className="prose max-w-168">
      <h1>First steps</h1>
      <p>
        In Treadle a team draws automations of LLM agents on a canvas, runs them, and calls them over REST. From an empty project to a first
        answer takes four steps; the home page ticks them off as you go.
      </p>
      <h2>1. Add an LLM key</h2>
      <p>
        Models are called on your own account. Open <Link href="/keys">LLM keys</Link>, choose the provider and paste its key. An
        OpenAI-compatible server of your own works too: choose “OpenAI-compatible” and give its base URL. Keys are stored encrypted, shown
        masked, and shared by the project; only admins add or delete them.
      </p>
      <h2>2. Create an agent</h2>
      <p>
        An <Link href="/agents">agent</Link> is a model with a job: a name, a key, a model and a system prompt. Pick the model from the list
        or type its id. Saving makes one short call, so a wrong key or model shows at once, in the provider’s own words. Try the agent with
        a message before you use it.
      </p>
      <h2>3. Draw a workflow</h2>
      <p>
        A <Link href="/workflows">workflow</Link> begins with one trigger. Connect an agent to it, and an output to the agent. Each node
        passes its text on along the edges:
      </p>
      <table>
        <thead>
          <tr>
            <th>Node</th>
            <th>What it does</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>Trigger</td>
            <td>
              Starts the run: by hand with a text or a form, by <Link href="/docs/triggers">schedule, webhook or HTTP call</Link>. Each
              workflow has exactly one.
            </td>
          </tr>
          <tr>
            <td>Agent</td>
            <td>Asks one of the project’s agents. With an empty input it is asked what the node before it said.</td>
          </tr>
          <tr>
            <td>Branch</td>
            <td>Goes on at true or at false, by a Python condition.</td>
          </tr>
          <tr>
            <td>Loop</td>
            <td>Runs its body once for each item of a list, one after the other or several at a time.</td>
          </tr>
          <tr>
            <td>Review</td>
            <td>
              Waits until a person <Link href="/docs/reviews">approves or rejects</Link>.
            </td>
          </tr>
          <tr>
            <td>Terminate</td>
            <td>Ends the whole run at once, as completed or as failed.</td>
          </tr>
          <tr>
            <td>Output</td>
            <td>Keeps a value as a result of the run: as it is, as JSON, or as Markdown.</td>
          </tr>
          <tr>
            <td>Note</td>
            <td>A remark for people, without effect.</td>
          </tr>
        </tbody>
      </table>
      <p>
        Text fields may hold <Link href="/docs/expressions">expressions</Link> such as <code>{"{{trigger.output}}"}</code>. What would stop
        a run, such as an agent node without an agent, is listed as a problem with the node that it concerns.
      </p>
      <p>
        The canvas keeps your changes as a draft. <strong>Save</strong> turns the draft into the next version; calls over REST always run
        the saved version, the editor’s <strong>Run</strong> runs the draft.
      </p>
      <p>
        <strong>History</strong>, the clock in the header, lists every version with who saved it and when. Give the ones that matter a name,
        there or from the menu beside Save. Choose one to see on the canvas what is new, changed and removed since, with each field’s old
        and new value; <strong>Restore</strong> puts it into the draft, Undo takes that back. When you come back to an editor in which
        nothing is unsaved, and somebody else changed the workflow meanwhile, their name stands in place of “Saved”, with{" "}
        <strong>Show</strong> beside it. When two people change a workflow at once, <strong>See what differs</strong> shows in the same way
        what you changed, what they did, and what both of you did. Choose a side, or keep both as one step of undo: where both changed the
        same node, yours stays.
      </p>
      <p>
        <Link href="/workflows/templates">Templates</Link> are whole workflows with real prompts to start from; some need no model key. A
        workflow leaves as a file by <strong>Export as a file</strong>, in the menu of its row or behind ⋯ in the editor, and comes in by{" "}
        <strong>Import</strong> above the list. The file holds the graph and the agents that it names, as definitions: no key, no credential
        and no webhook secret; what looks like a key of another service is masked too, and listed. Before anything is made, the import lists
        what must be linked: which agents are here or are to be created with which key, which servers and knowledge sources stand for those
        of the file, which credentials are missing. What you leave open is kept in its node and stands among the problems.{" "}
        <strong>Import into this workflow</strong>, behind ⋯ too, puts the nodes of a file below those that are on the canvas, under free
        names.
      </p>
      <h2>4. Run it</h2>
      <p>
        Press <strong>Run</strong>. Every node shows when it starts, what it says and how long it took, and the run stays under{" "}
        <Link href="/runs">Runs</Link> with the input and output of each step. A run goes on where it was when the service is restarted; a
        model call that has finished is never made twice.
      </p>
      <p>
        A run that has ended can be run again from its page: whole, with the same version or the current one, or from one node on. Then what
        came before is taken over and not paid for again.
      </p>
      <p>
        In the editor, a node’s menu and the toolbar above it run just a part of the draft: <strong>Run until here</strong> only what the
        node needs, <strong>Run from here</strong> it and what follows, with the results before it from the run on the screen. Results that
        no longer hold, because the node, its agent or something before it changed, carry a mark that says why.
        <strong> Pin output</strong> keeps an output at its node: runs from the editor then take it instead of running the node. A review
        that waits is approved at its card, and <strong>Follow run</strong> on the canvas’s bar keeps the node at work in view.
      </p>
      <p>
        Any earlier run comes onto the canvas from the editor’s <strong>Runs</strong>, or from its page by <strong>Open in editor</strong>.{" "}
        <strong>Debug in editor</strong>, behind Run again, also pins what its nodes left behind.
      </p>
      <h2>Work together</h2>
      <p>
        Invite people under <Link href="/settings/members">Settings, Members</Link>. A <strong>viewer</strong> reads, an{" "}
        <strong>editor</strong> also builds and runs, an <strong>admin</strong> also manages members, LLM keys and credentials. More under{" "}
        <Link href="/docs/administration">Administration</Link>.
      </p>
      <h2>Next</h2>
      <p>
        <Link href="/docs/rest">Call your workflow from a program</Link>, give your agents <Link href="/docs/agents">tools</Link> and{" "}
        <Link href="/docs/knowledge">knowledge</Link>, or read about <Link href="/docs/expressions">expressions</Link>.
      </p>
    </article>
  );
}
