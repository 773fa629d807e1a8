import type { Metadata } from "next";
import Link from "next/link";
import { Example } from "#app/docs/example.tsx";

export const metadata: Metadata = { title: "Credentials" };

export default function Credentials() {
  return (
    <article className="prose max-w-168">
      <h1>Credentials</h1>
      <p>
        A <Link href="/settings/credentials">credential</Link> is a secret of the project under a name. Workflows name it; its value is
        stored encrypted and never shown again, to nobody. Only admins add, replace and delete credentials.
      </p>
      <Example file="add-credential.sh" />
      <h2>In a workflow</h2>
      <p>
        <code>{"{{credentials.GITHUB_TOKEN}}"}</code> stands for the value in any field that takes{" "}
        <Link href="/docs/expressions">expressions</Link>. A name that the project does not have is a problem before the run. A credential
        that a workflow reads cannot be deleted (409, which names the workflows).
      </p>
      <Example file="credential-workflow.json" isNamed />
      <p>
        The output of this one is <code>Bearer ••••</code>: an Output calls nothing, so it gets nothing but the mask. An agent gets the
        value, and with it the model and its tools, so name a secret there only if they may have it.
      </p>
      <h2>What is masked</h2>
      <p>
        Each credential that a workflow names stands as <code>••••</code> wherever a run keeps or shows something: inputs, outputs, logs,
        tool calls, errors, reviews, mails and live streams, also where its letters come in several pieces. It is recognised by its value,
        so also when a model repeats it: in small or capital letters, with any of its characters escaped as JSON, Markdown, HTML or an
        address escape them, in hexadecimal and in Base64. A chat with an agent and its test mask every secret of the project.
      </p>
      <ul>
        <li>Values of fewer than six characters are not masked: they would garble every text.</li>
        <li>Later nodes and conditions read the mask. To use a secret in two agents, name it in both.</li>
        <li>A value that a model spells in another way, backwards or letter by letter, is not recognised.</li>
        <li>
          There is no path into a credential: <code>{"{{credentials.KEY.part}}"}</code> is a problem. Keep parts as credentials of their
          own.
        </li>
      </ul>
      <h2>Other secrets</h2>
      <p>
        LLM keys, the headers of MCP servers, the passwords of knowledge sources and webhook secrets have places of their own and are
        encrypted alike, under <code>ENCRYPTION_KEY</code>. The names <code>SEARXNG_URL</code>, <code>BRAVE_API_KEY</code> and{" "}
        <code>TAVILY_API_KEY</code> choose whose search <Link href="/docs/agents">web_search</Link> uses.
      </p>
    </article>
  );
}
