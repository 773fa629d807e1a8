import type { Metadata } from "next";
import Link from "next/link";
import { baseUrl } from "#app/docs/base-url.ts";
import { CodeBlock } from "#components/ui/code-block.tsx";

export const metadata: Metadata = { title: "REST with curl" };

export default async function RestGuide() {
  const base = await baseUrl();
  return (
    <article className="prose max-w-168">
      <h1>REST with curl</h1>
      <p>
        Agents, workflows, runs, keys and members can be handled over REST at <code>{base}/api/v1</code>. The{" "}
        <Link href="/docs/api">API reference</Link> lists every operation; <a href="/api/v1/openapi.json">openapi.json</a> describes them
        for tools.
      </p>
      <h2>A key</h2>
      <p>
        Create one under <Link href="/settings/api-keys">Settings, API keys</Link>. It is shown once. It may do what you may, so keep it
        like a password. Put it into the shell:
      </p>
      <CodeBlock
        label="command"
        code={`export TREADLE_KEY=sk-service-…\ncurl ${base}/api/v1/auth/me \\
  -H "Authorization: Bearer $TREADLE_KEY"`}
      />
      <p>
        In several projects, name the one you mean with <code>X-Project-Slug</code> (or <code>X-Project-ID</code>); both stand under{" "}
        <Link href="/settings/project">Settings, Project</Link>.
      </p>
      <h2>Run a workflow</h2>
      <p>
        The id is in the address of the editor. A manual trigger takes <code>input</code>, a form trigger <code>params</code>; what you
        leave out takes its default.
      </p>
      <CodeBlock
        label="command"
        code={`curl -X POST ${base}/api/v1/workflows/$WORKFLOW_ID/execute \\
  -H "Authorization: Bearer $TREADLE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"input": "Write a line about looms."}'`}
      />
      <p>The answer, 202, comes at once:</p>
      <CodeBlock label="answer" code={`{"execution_id": "019a8f3e-…", "status": "pending"}`} />
      <h2>Wait for the result</h2>
      <p>
        Poll until <code>status</code> is <code>completed</code>, <code>failed</code>, <code>rejected</code> or <code>cancelled</code>:
      </p>
      <CodeBlock
        label="command"
        code={`curl ${base}/api/v1/executions/$EXECUTION_ID \\
  -H "Authorization: Bearer $TREADLE_KEY"`}
      />
      <p>
        <code>output</code> is the value of the Output node, or a JSON object by label when several were reached; <code>node_results</code>{" "}
        has each node’s own output, time and tokens.
      </p>
      <p>Or follow it live, as server-sent events:</p>
      <CodeBlock
        label="command"
        code={`curl -N ${base}/api/v1/executions/$EXECUTION_ID/stream \\
  -H "Authorization: Bearer $TREADLE_KEY"`}
      />
      <p>
        Each event has an <code>id</code>. After a broken line send the last one as <code>Last-Event-ID</code>, and the stream goes on from
        there. The last event is <code>execution_complete</code> or <code>execution_failed</code>.
      </p>
      <h2>Stop a run</h2>
      <CodeBlock
        label="command"
        code={`curl -X POST ${base}/api/v1/executions/$EXECUTION_ID/cancel \\
  -H "Authorization: Bearer $TREADLE_KEY"`}
      />
      <h2>Rules for every call</h2>
      <ul>
        <li>
          Lists are <code>{"{items, total, page, per_page}"}</code>, newest first; <code>per_page</code> goes up to 200.
        </li>
        <li>
          Errors are <code>{"{detail, error_code, status, errors?}"}</code>; <code>detail</code> says what to do next. A body that breaks a
          rule is 422 and names each field.
        </li>
        <li>
          Answers carry <code>X-RateLimit-Limit</code>, <code>-Remaining</code> and <code>-Reset</code>; a 429 says in{" "}
          <code>Retry-After</code> how many seconds to wait.
        </li>
        <li>Times are ISO 8601 in UTC with milliseconds.</li>
        <li>Something that belongs to another project answers 404, as if it did not exist.</li>
      </ul>
    </article>
  );
}
