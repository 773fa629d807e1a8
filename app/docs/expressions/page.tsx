import type { Metadata } from "next";
import rows from "#app/docs/examples/expressions.json";

export const metadata: Metadata = { title: "Expressions" };

export default function Expressions() {
  return (
    <article className="prose max-w-168">
      <h1>Expressions</h1>
      <p>
        An expression stands in double braces in a text field of a node and is replaced when that node starts: the name of a node or agent,
        a dot, and what to read.
      </p>
      <table>
        <thead>
          <tr>
            <th>Write</th>
            <th>Get</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([expression, meaning]) => (
            <tr key={expression}>
              <td className="whitespace-nowrap">
                <code>{expression}</code>
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>Names</h2>
      <p>
        An agent node answers to its agent’s name and to the label on its card; every other node to its label. Labels are unique in a
        workflow, and a label wins over an agent’s name of the same spelling. Where two nodes use one agent, its name means the one that
        finished last; use the labels to tell them apart. Names may have dots and brackets in them: of several names that an expression
        could begin with, the longest counts, as in <code>{"{{GPT-4.1 Writer.output}}"}</code>. Braces are refused in names. When you rename
        a node, expressions and conditions that read it follow.
      </p>
      <h2>JSON</h2>
      <p>
        When a text is JSON, the path after <code>output</code> reads into it: <code>.field</code>, <code>[0]</code>,{" "}
        <code>["a field with spaces"]</code>. A whole object or list that is put into a text becomes compact JSON.
      </p>
      <h2>Secrets</h2>
      <p>
        <code>credentials</code> reads the project’s credentials. An agent, and with it the model and its tools, gets the value. Wherever
        the run keeps or shows a text, a value of six characters or more stands as ••••: in inputs, outputs, errors, streams, reviews and
        e-mails, and so in what later nodes and conditions read of it.
      </p>
      <h2>When something is missing</h2>
      <ul>
        <li>
          A name that no node bears is reported as a problem before the run, with the nearest name that there is. In the editor it is
          underlined while you type, and a click puts the right one in.
        </li>
        <li>A field that the JSON does not have fails the node at run time, and the error says which.</li>
        <li>A node that was skipped reads as empty text.</li>
        <li>Braces that are no expression, such as a single brace or one that is never closed, stay as they are.</li>
      </ul>
    </article>
  );
}
