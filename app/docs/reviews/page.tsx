import type { Metadata } from "next";
import Link from "next/link";
import { Example } from "#app/docs/example.tsx";

export const metadata: Metadata = { title: "Reviews" };

export default function Reviews() {
  return (
    <article className="prose max-w-168">
      <h1>Reviews</h1>
      <p>
        A Review node stops its branch until a person approves or rejects. Other branches go on meanwhile; when nothing else is left to do
        the run is <code>paused</code>. It can wait for minutes or for months, over restarts too.
      </p>
      <h2>Who decides, and where</h2>
      <p>Each review is decided once. Who decided, in which role and by which way is kept with the run and said in its log.</p>
      <ul>
        <li>
          In the web app: every editor and admin of the project is notified, and decides under <Link href="/approvals">Approvals</Link> or
          on the page of the run. When somebody else decides while you write a comment, the decision is shown and your words stay, to be
          copied.
        </li>
        <li>
          By e-mail: the address under “Notify by e-mail” gets a link to a page with both answers, which works on a phone and needs no
          account. Opening the link decides nothing; whoever has it can decide, so it should not be passed on. It ends with the time to
          decide, or after 30 days. Mail needs <code>SMTP_URL</code> and <code>EMAIL_FROM</code> to be set on the server.
        </li>
        <li>Over REST, with the key of an editor or admin:</li>
      </ul>
      <Example file="approve-review.sh" />
      <p>
        When several reviews of a run wait, say which one with <code>node_id</code>, and inside a loop with <code>iteration</code> (
        <code>"3"</code> is the fourth item). A second decision is answered with 409, which names who decided and when.{" "}
        <code>GET /reviews?status=waiting</code> lists what waits in the project: of a title, description or content longer than 2,000
        characters the beginning, with <code>truncated: true</code> beside it. <code>{"GET /reviews/{review_id}"}</code> has them whole, as
        “Show all” has in the web app.
      </p>
      <h2>What comes after</h2>
      <p>
        The run goes on at Approved or at Rejected, and the other side is skipped. A node there whose field is empty takes the content that
        came to the review. With nothing attached to Rejected, a rejection ends the run as <code>rejected</code>, once branches under way
        have ended. Later nodes can read the answer, as all <Link href="/docs/expressions">expressions</Link> do:
      </p>
      <table>
        <thead>
          <tr>
            <th>Write</th>
            <th>Get</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td className="whitespace-nowrap">
              <code>{"{{Check.output}}"}</code>
            </td>
            <td>
              <code>approved</code> or <code>rejected</code>, with a comment <code>approved: Looks good</code>
            </td>
          </tr>
          <tr>
            <td className="whitespace-nowrap">
              <code>{"{{Check.decision}}"}</code>
            </td>
            <td>The decision alone</td>
          </tr>
          <tr>
            <td className="whitespace-nowrap">
              <code>{"{{Check.comment}}"}</code>
            </td>
            <td>The comment alone, empty without one</td>
          </tr>
        </tbody>
      </table>
      <h2>When nobody decides</h2>
      <p>
        A timeout in hours, fractions allowed, rejects the review when it is over; 0 waits for ever. A run that is cancelled withdraws its
        reviews, and its links say so.
      </p>
    </article>
  );
}
