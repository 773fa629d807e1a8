import type { Metadata } from "next";
import Link from "next/link";
import { Example } from "#app/docs/example.tsx";

export const metadata: Metadata = { title: "Agents and tools" };

const searches: readonly [string, string][] = [
  ["SEARXNG_URL", "A SearXNG server, whose settings must allow the format json"],
  ["BRAVE_API_KEY", "Brave Search"],
  ["TAVILY_API_KEY", "Tavily"],
];

export default function Agents() {
  return (
    <article className="prose max-w-168">
      <h1>Agents and tools</h1>
      <p>
        An agent is a model with a job: an LLM key of the project, a model, a system prompt, and what it may use. Saving it makes one short
        call, with a tool if it has any, so a model that cannot be called shows at once.
      </p>
      <Example file="create-agent.sh" />
      <p>
        A key that leaked or ran out is replaced under <Link href="/keys">LLM keys</Link>, or with a new <code>api_key</code> in{" "}
        <code>PUT /llm-keys/{"{key_id}"}</code>: one of the agents that use it makes a check call first, then all of them go on with it.
      </p>
      <p>
        Models of Hugging Face cannot call tools; an agent with such a key is refused any. <Link href="/skills">Skills</Link> are prompts
        for one kind of work, built-in or your own: the prompts of the skills that you tick follow the agent’s own.
      </p>
      <p>
        Prompt preview on the agent’s page shows what its model is sent before the question, as the form stands and saved or not: the system
        message with the skills, the tools with their parameters, the response format, and the whole request as JSON.
      </p>
      <p>
        A PUT may say in <code>if_unchanged_since</code> from which <code>updated_at</code> it begins: when the agent was saved after that,
        the answer is 409 and tells by whom and what. The form does so, takes over what others saved, and keeps what you typed.
      </p>
      <h2>Chat</h2>
      <p>
        On its page an agent can be chatted with, tools included. Nothing of that is kept: over REST, send what was said before as{" "}
        <code>history</code>. The answer comes as server-sent events.
      </p>
      <Example file="chat-with-agent.sh" />
      <Example file="chat-events.txt" label="events" />
      <p>
        The last event is <code>done</code> or <code>error</code>. With <code>stream</code> off there is one answer in JSON; a call that
        fails before its first word is a 502 either way. A chat may take five minutes.
      </p>
      <p>
        An answer that ends at the limit of its length says <code>truncated: true</code>, and <code>answer_truncated: true</code> in the
        results, log and events of a run. One that a content filter of the provider held back, and one that never began because the model
        thought until its limit, is an error. The <code>tool_result</code> of <code>search_knowledge</code> has <code>sources</code>:
        number, document and place of each piece.
      </p>
      <Example file="ask-agent.sh" />
      <h2>Answers in JSON</h2>
      <p>
        With an output schema, a JSON Schema, every answer is JSON that follows it, and expressions such as{" "}
        <code>{"{{Scout.output.urgent}}"}</code> can read its fields. An answer beside the schema is sent back once with what is wrong; a
        second one fails the call, and the error quotes it.
      </p>
      <Example file="output-schema.json" isNamed />
      <Example file="set-output-schema.sh" />
      <h2>Search the web</h2>
      <p>
        <code>web_search</code> asks the first of these that is there as a <Link href="/docs/credentials">credential</Link> of the project,
        then the first that is set on the server. With none of them it asks DuckDuckGo, which needs no key and may refuse machines.
      </p>
      <table>
        <tbody>
          {searches.map(([name, service]) => (
            <tr key={name}>
              <td className="whitespace-nowrap">
                <code>{name}</code>
              </td>
              <td>{service}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>Read a page</h2>
      <p>
        <code>web_scraper</code> reads the main text of a page, a PDF, a Word or a text file, up to 15 MiB of it. It runs no scripts, keeps
        to robots.txt, and calls no private address unless <code>ALLOW_PRIVATE_NETWORK=1</code>.
      </p>
      <h2>MCP servers</h2>
      <p>
        Tools of your own come from <Link href="/mcp">MCP servers</Link>, over streamable HTTP or, for older ones, SSE (
        <code>transport: "sse"</code>). See first what a server offers, then connect it:
      </p>
      <Example file="discover-mcp.sh" />
      <Example file="connect-mcp.sh" />
      <p>
        Header values are stored encrypted and never shown again; with another address they must be given again. Tools can be switched off
        one by one (<code>disabled_tools</code>). A model sees each under the name of its server, such as <code>shelf__echo</code>. A server
        that is away fails the tool call, not the agent.
      </p>
      <p>
        What an agent may use is set on its page, or over REST; <Link href="/docs/knowledge">knowledge</Link> becomes the tool{" "}
        <code>search_knowledge</code>:
      </p>
      <Example file="give-tools.sh" />
      <h2>What the tools did in a run</h2>
      <p>
        On the page of a run, an agent’s node shows its tool calls beside output and input, and the log has them too. Over REST they are{" "}
        <code>tool_calls</code> in the logs:
      </p>
      <Example file="read-logs.sh" />
      <Example file="tool-calls.json" label="tool_calls of a node" />
      <p>
        A run keeps the first 4,000 characters of each result; the model reads up to 50,000. A tool that fails tells the model why, and the
        model goes on. At most ten rounds of calls, each of at most 16, and 90 seconds for one call.
      </p>
    </article>
  );
}
