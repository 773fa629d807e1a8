import type { Metadata } from "next";
import Link from "next/link";
import { Example } from "#app/docs/example.tsx";

export const metadata: Metadata = { title: "Triggers" };

const kinds: readonly [string, string, string][] = [
  ["Manual", "A person, with a text", "The text"],
  ["Params", "A person, with a form of named values", "The values as JSON; each also as {{trigger.name}}"],
  ["Webhook", "A service that signs its calls", "The JSON payload, or the part that the payload path selects"],
  ["Schedule", "The clock", "The default input"],
  ["HTTP", "A program with an API key", "JSON with method, headers, query and body"],
];

export default function Triggers() {
  return (
    <article className="prose max-w-168">
      <h1>Triggers</h1>
      <p>
        Every workflow has one trigger node, and its kind says what starts a run. What the trigger gives is{" "}
        <code>{"{{trigger.output}}"}</code> in the nodes after it. Webhooks, schedules and HTTP calls run the saved version, never a draft.
      </p>
      <table>
        <thead>
          <tr>
            <th>Kind</th>
            <th>Started by</th>
            <th>Output</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map(([kind, starter, output]) => (
            <tr key={kind}>
              <td>{kind}</td>
              <td>{starter}</td>
              <td>{output}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        A workflow that is switched off takes no webhook and no HTTP call (409) and its schedule is silent. Running it by hand or over{" "}
        <Link href="/docs/rest">REST</Link> still works, whatever the kind.
      </p>

      <h2>Webhook</h2>
      <p>
        Save the workflow with a webhook trigger, then set the webhook up in the trigger’s panel, or over REST. The secret is shown once;
        setting up again replaces it, and calls signed with the old one get 401.
      </p>
      <Example file="set-up-webhook.sh" />
      <Example file="set-up-webhook-answer.json" label="answer" />
      <p>
        The sender posts JSON and signs the raw body: <code>X-SERVICE-Signature</code> is <code>sha256=</code> and the hex HMAC-SHA256 of
        the bytes, keyed by the secret. The answer, 202, comes at once with the id of the queued run.
      </p>
      <Example file="send-webhook.sh" />
      <p>In TypeScript:</p>
      <Example file="send-webhook.ts" />
      <p>In Python:</p>
      <Example file="send_webhook.py" />
      <h3>Payload path</h3>
      <p>
        A JSONPath (RFC 9535) passes on a part of the payload. A path of names and indexes, such as <code>$.issue.title</code> or{" "}
        <code>$.items[0]</code>, passes on the value there, and a payload without it is refused with 422. Any other, such as{" "}
        <code>$.items[*].id</code> or <code>$.items[?@.open]</code>, passes on a list, of one match and of none too. A text stays as it is,
        anything else becomes compact JSON.
      </p>
      <h3>Repeated deliveries</h3>
      <p>
        Senders repeat what they are not sure of. Name each delivery with the header <code>Idempotency-Key</code>, or let the sender’s own
        id do it: <code>webhook-id</code>, <code>svix-id</code>, <code>X-GitHub-Delivery</code>, <code>X-Gitea-Delivery</code>,{" "}
        <code>X-Shopify-Webhook-Id</code>, <code>X-Atlassian-Webhook-Identifier</code>, <code>Linear-Delivery</code>,{" "}
        <code>I-Twilio-Idempotency-Token</code> or <code>PayPal-Transmission-Id</code>. A repetition gives the first run again, whatever its
        body, for at least 7 days. A delivery that was refused does not count as the first.
      </p>
      <h3>Late deliveries</h3>
      <p>
        A delivery that says when it was sent is refused when that is more than 5 minutes off either way, or no time: seconds or
        milliseconds since 1970, or an ISO 8601 date. It says so in <code>X-SERVICE-Timestamp</code>, <code>webhook-timestamp</code>,{" "}
        <code>svix-timestamp</code>, <code>X-Webhook-Timestamp</code>, <code>X-Slack-Request-Timestamp</code> or <code>X-Timestamp</code>.
        The signature covers the body alone, so this keeps out what was held up or sent again as it was. Whoever can copy a signed body can
        send it with another time: where that matters, name deliveries inside the body and let the workflow look at that.
      </p>
      <h3>Answers</h3>
      <ul>
        <li>401: the signature is missing or wrong, the delivery late, or there is no such webhook. Nothing else is looked at before.</li>
        <li>409: the workflow is switched off, or the project holds as much as it may. 400: the body is not JSON. 413: it is too large.</li>
        <li>422: there is nothing at the one place that the payload path names, or the workflow has problems that keep it from running.</li>
        <li>429: the project has used up its runs of the hour.</li>
      </ul>
      <p>
        The trigger’s panel lists the last deliveries, and can send one again. Of calls that are refused with 401 it lists at most one a
        minute, without what they brought.
      </p>

      <h2>Schedule</h2>
      <p>
        A cron expression with five fields: minute, hour, day of month, month, day of week. When both day fields are given, either one
        counts. Every N minutes, from 5 on, is <code>*/N</code>, which counts anew at each full hour. In any other expression, two fires
        closer than 5 minutes anywhere in the next year are refused at save. Times are those of the time zone, UTC unless you choose
        another.
      </p>
      <ul>
        <li>When clocks go forward, a time that the day leaves out fires right after the jump, unless another fire is within 5 minutes.</li>
        <li>When they go back, a time that comes twice fires at the first. What runs in every hour goes on in real time.</li>
        <li>Fires missed while the service was down are made up for by one run at its start.</li>
        <li>A fire that the hourly limit or a problem forbids leaves a failed run with the reason.</li>
      </ul>
      <p>To switch a schedule off, or to other times, without opening the editor:</p>
      <Example file="set-schedule.sh" />

      <h2>HTTP</h2>
      <p>
        Call <code>/api/v1/http/</code> and the workflow’s id with any method that the trigger allows. It needs an API key of an editor,
        with the scope <code>run</code>. A browser’s session starts no run by GET, since any picture in a page would send that. With the
        answer <code>sync</code> the call waits for the end of the run:
      </p>
      <Example file="call-http-trigger.sh" />
      <Example file="call-http-trigger-answer.json" label="answer" />
      <p>
        After 60 seconds, or when the run pauses at a review, the answer is 202 with the id alone; the run goes on. With <code>async</code>{" "}
        it is 202 at once. The trigger’s output is JSON, so <code>{"{{trigger.output.body.days}}"}</code> and{" "}
        <code>{"{{trigger.output.query.city}}"}</code> read its parts. Keys, cookies and headers that look like secrets are left out. A body
        is read as JSON when it is JSON, else as text; one that is declared as JSON and is none is refused with 400.
      </p>
    </article>
  );
}
