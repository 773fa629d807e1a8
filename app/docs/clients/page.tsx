import type { Metadata } from "next";
import Link from "next/link";
import { Example } from "#app/docs/example.tsx";

export const metadata: Metadata = { title: "Clients" };

export default function Clients() {
  return (
    <article className="prose max-w-168">
      <h1>Clients</h1>
      <p>
        The API is described by <a href="/api/v1/openapi.json">openapi.json</a> (OpenAPI 3.1), so types and clients for most languages can
        be generated from it. Here are two small ones to copy. Both read where they are from <code>TREADLE_URL</code> and{" "}
        <code>TREADLE_KEY</code>:
      </p>
      <Example file="environment.sh" />
      <p>Both know the rules that every client should:</p>
      <ul>
        <li>
          Lists come in pages. Go on until you have seen <code>total</code>.
        </li>
        <li>
          A 429 says in <code>Retry-After</code> how many seconds to wait. Nothing was done, so trying again is safe.
        </li>
        <li>
          After a broken line, repeat a <code>POST</code> with the same <code>Idempotency-Key</code>: it is done once, and you get the first
          answer.
        </li>
        <li>
          A stream goes on where it broke, when you send the id of the last event as <code>Last-Event-ID</code>.
        </li>
        <li>
          An error’s <code>detail</code> is a sentence for people, its <code>error_code</code> is for programs.
        </li>
      </ul>
      <h2>TypeScript</h2>
      <p>
        <a href="https://openapi-ts.dev" target="_blank" rel="noreferrer">
          openapi-typescript
        </a>{" "}
        makes types of the description, and openapi-fetch checks every call against them: a wrong path, a missing field or a misspelled one
        does not compile. Both run in browsers too; only where the address and the key come from is Node’s here.
      </p>
      <Example file="generate-types.sh" />
      <Example file="client.ts" isNamed />
      <p>List the workflows, page by page:</p>
      <Example file="list-workflows.ts" isNamed />
      <p>Run one, and wait for its end by following its events:</p>
      <Example file="run-workflow.ts" isNamed />
      <p>Approve what it waits for:</p>
      <Example file="approve-review.ts" isNamed />
      <p>
        Send to a <Link href="/docs/triggers">webhook</Link>, signed:
      </p>
      <Example file="send-webhook.ts" isNamed />
      <h2>Python</h2>
      <p>Python 3.11 or newer, and nothing to install.</p>
      <Example file="treadle.py" isNamed />
      <p>List the workflows, page by page:</p>
      <Example file="list_workflows.py" isNamed />
      <p>Run one, and wait for its end by following its events:</p>
      <Example file="run_workflow.py" isNamed />
      <p>Approve what it waits for:</p>
      <Example file="approve_review.py" isNamed />
      <p>
        Send to a <Link href="/docs/triggers">webhook</Link>, signed:
      </p>
      <Example file="send_webhook.py" isNamed />
    </article>
  );
}
