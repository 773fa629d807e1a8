import type { Metadata } from "next";
import Link from "next/link";
import { baseUrl } from "#app/docs/base-url.ts";
import { Example } from "#app/docs/example.tsx";

export const metadata: Metadata = { title: "REST with curl" };

export default async function RestGuide() {
  const base = await baseUrl();
  return (
    <article className="prose max-w-168">
      <h1>REST with curl</h1>
      <p>
        Projects, agents, workflows, runs and all that belongs to them can be handled over REST at <code>{base}/api/v1</code>. The{" "}
        <Link href="/docs/api">API reference</Link> lists every operation and can try it; <a href="/api/v1/openapi.json">openapi.json</a>{" "}
        describes them for tools; <Link href="/docs/clients">Clients</Link> shows TypeScript and Python.
      </p>
      <h2>A key</h2>
      <p>
        Create one under <Link href="/settings/api-keys">Settings, API keys</Link>. It is shown once. It acts as you, within the scopes,
        projects and time that <Link href="/docs/administration">you give it</Link>, so keep it like a password. Put it into the shell:
      </p>
      <Example file="environment.sh" />
      <p>Then ask who it belongs to:</p>
      <Example file="who-am-i.sh" />
      <p>
        In several projects, name the one you mean with <code>X-Project-Slug</code> (or <code>X-Project-ID</code>); both stand under{" "}
        <Link href="/settings/project">Settings, Project</Link>. A slug is unique within your account: join a project while you have another
        of its slug, and your account calls it <code>team-2</code>, in <code>GET /projects</code> too.
      </p>
      <h2>Create a workflow</h2>
      <p>
        A workflow is its nodes and edges. What a node’s <code>data</code> may hold is what its panel in the editor shows. This one asks a
        person before it answers:
      </p>
      <Example file="workflow.json" isNamed />
      <Example file="create-workflow.sh" />
      <p>
        A graph that cannot be, such as one with a cycle, is refused with 422 and a sentence for each fault. What would only stop a run
        comes back under <code>problems</code>. A <code>PUT</code> with the <code>version</code> that you read is refused with 409 when
        somebody saved meanwhile.
      </p>
      <p>
        Every save is kept: <code>{"GET /workflows/{workflow_id}/versions"}</code> lists them with who, when and how much each changed,{" "}
        <code>{"GET /workflows/{workflow_id}/versions/{version}"}</code> gives one with its graph, and a <code>PUT</code> there gives it a{" "}
        <code>name</code>. To go back to a version, save its <code>nodes</code> and <code>edges</code> again: that makes the next one.
      </p>
      <h2>Files and templates</h2>
      <p>
        <code>{"GET /workflows/{workflow_id}/export"}</code> gives a workflow as one file, without secrets and without ids of your
        installation; with <code>?draft=true</code> as it is on the canvas. Where something looked like a secret, •••• stands for it, and{" "}
        <code>masked</code> lists the place. <code>POST /workflows/import/check</code> with <code>{'{"file": …}'}</code> changes nothing and
        says what the file needs and what of it is there. <code>POST /workflows/import</code> makes the workflow; its <code>links</code> say
        for each agent of the file whether to <code>use</code> one that is there, to <code>create</code> it with an LLM key, or to leave it{" "}
        <code>open</code>. A workflow with a schedule comes in switched off. <code>GET /workflow-templates</code> lists the templates, each
        with its file.
      </p>
      <h2>Lists</h2>
      <p>
        Lists are <code>{"{items, total, page, per_page}"}</code>, newest first; <code>per_page</code> goes up to 200.
      </p>
      <Example file="list-workflows.sh" />
      <h2>Run a workflow</h2>
      <p>
        The id is in the address of the editor. A manual trigger takes <code>input</code>, a form trigger <code>params</code>; what you
        leave out takes its default.
      </p>
      <Example file="run-workflow.sh" />
      <p>The answer, 202, comes at once:</p>
      <Example file="run-workflow-answer.json" label="answer" />
      <p>
        When the line breaks before the answer, you cannot know whether the run was started. Name the call with <code>Idempotency-Key</code>{" "}
        and repeat it: the same key with the same body gives the first answer again for 24 hours, and starts nothing. The same key with
        another body is refused with 409. Every <code>POST</code> takes it.
      </p>
      <Example file="run-once.sh" />
      <h2>Wait for the result</h2>
      <p>
        Poll until <code>status</code> is <code>completed</code>, <code>failed</code>, <code>rejected</code> or <code>cancelled</code>:
      </p>
      <Example file="read-execution.sh" />
      <p>
        <code>output</code> is the value of the Output node, or a JSON object by label when several were reached; <code>node_results</code>{" "}
        has each node’s own output, time and tokens.
      </p>
      <p>Or follow it live, as server-sent events:</p>
      <Example file="follow-execution.sh" />
      <p>
        Each event has an <code>id</code>. After a broken line send the last one as <code>Last-Event-ID</code>, and the stream goes on from
        there. The last event is <code>execution_complete</code> or <code>execution_failed</code>. In a browser, where an EventSource cannot
        set headers, the key may stand in the query as <code>token</code>.
      </p>
      <h2>Decide a review</h2>
      <Example file="approve-review.sh" />
      <p>
        More about that under <Link href="/docs/reviews">Reviews</Link>.
      </p>
      <h2>Stop a run</h2>
      <Example file="cancel-execution.sh" />
      <h2>Rules for every call</h2>
      <ul>
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
