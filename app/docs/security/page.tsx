import type { Metadata } from "next";
import Link from "next/link";

export const metadata: Metadata = { title: "Security" };

const hostile: readonly [who: string, what: string][] = [
  ["A stranger", "Somebody on the network without an account, and whatever page a browser has open elsewhere."],
  [
    "A person with an account",
    "Anybody with an account can make a project and is its admin. That says nothing about the machine or other projects.",
  ],
  ["A member", "A viewer who wants to change something, an editor who wants a secret, an admin who wants more than the project."],
  ["What a model says", "Answers, tool calls and arguments are data. They reach only the tools that the agent has."],
  ["A page or a file", "What the page reader fetches and what is uploaded, however it is packed."],
  ["A server that a project names", "Model endpoints, MCP servers, search services and databases of knowledge sources."],
];

export default function Security() {
  return (
    <article className="prose max-w-168">
      <h1>Security</h1>
      <p>
        Who may be hostile, what holds against them, and what does not. The attacks behind this page are tests;{" "}
        <code>npm run test:security</code> runs those that need a whole service, against a production build.
      </p>
      <h2>Who may be hostile</h2>
      <table>
        <tbody>
          {hostile.map(([who, what]) => (
            <tr key={who}>
              <td className="font-medium">{who}</td>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        Trusted are whoever runs the machine and sets its variables, the PostgreSQL and the Inngest server that they name, the sign-in
        service that they set up, and install admins: the first owner and whom they name under{" "}
        <Link href="/settings/install">Settings, Install</Link>.
      </p>

      <h2>Accounts</h2>
      <ul>
        <li>
          The first owner is made at the machine itself, or with the one-time address that the start prints (<code>/setup?code=…</code>).
          Nobody else can be first, neither by sign-up nor through a sign-in service.
        </li>
        <li>
          An address is nobody’s until a link was opened that only its mail has, or a sign-in service vouched for it. The link that an admin
          hands over proves nothing.
        </li>
        <li>
          Nobody becomes a member unasked. A verified account is asked in the app. Whoever opens the link of an account that is not
          verified, without its password, sets a new one: that ends its sessions and API keys, and opens the one project of the link. Its
          other projects wait for whoever knows the old password, is invited again, or verifies the address.
        </li>
        <li>The first sign-in through a service ends the password and the API keys of an account that was not verified.</li>
        <li>
          Passwords may be tried 10 times in 15 minutes from one address, and 50 times in an hour and 200 in a day from all together.
          Others’ tries do not count where the owner has signed in during the last 90 days.
        </li>
        <li>
          Signing out ends the session on the server, for every copy of the cookie. A new password ends all sessions, and API keys when the
          form says so. Who is removed from a project is out with the next request; open streams end within 15 seconds.
        </li>
      </ul>

      <h2>API keys</h2>
      <ul>
        <li>
          A key acts as its owner, within its scopes (<code>read</code>, <code>run</code>, <code>write</code>), its projects and its time.
          It makes no key with more than it has itself.
        </li>
        <li>
          <code>write</code> is strong: it manages members and secrets, and what it writes may run by itself. Give programs{" "}
          <code>read</code> and <code>run</code>.
        </li>
        <li>Keys are stored as hashes. Their list shows how each begins, when it was last used, and from which address.</li>
      </ul>

      <h2>Requests</h2>
      <ul>
        <li>
          Every body has a bound where it comes in, whichever door it comes to and however its length is told; slow bodies have one
          together.
        </li>
        <li>
          The API, the web app’s own calls, pages and sign-in have <Link href="/docs/administration">limits</Link> for each address (of
          IPv6, each /64) and each person.
        </li>
        <li>
          A browser’s session changes something only from pages of this service: never for an image, a frame or a script, nor from another
          site. It starts no run by GET.
        </li>
        <li>What belongs to another project answers as if it did not exist.</li>
        <li>
          A webhook’s signature covers the body. A header with the time keeps out late repetitions, but not somebody who has copied a signed
          body and gives it a new time.
        </li>
      </ul>

      <h2>Pages and mails</h2>
      <ul>
        <li>
          Texts of people and models are shown as Markdown without HTML and without images: a link stands in the place of each. Looking at a
          text loads nothing from anywhere.
        </li>
        <li>
          Every page has a Content-Security-Policy with a nonce of its own. Only our scripts run, nothing is loaded from other addresses,
          and no other site can frame a page. A proxy in front must pass this header on as it is, and must not cache pages.
        </li>
        <li>Mails have fixed subjects. What others wrote in them is quoted, short, and leads nowhere.</li>
      </ul>

      <h2>Conditions, files and pages</h2>
      <ul>
        <li>
          Python conditions, uploaded files and fetched pages are read in processes of their own. These are killed after their time (a
          condition 1 second, a page 15, a document 120) or when they hold too much memory, also while somebody only types a condition.
        </li>
        <li>
          The processes have no setting of the service in their environment, and the Python has no files, no network and no other programs.
          Projects take turns, and none has every process.
        </li>
        <li>What is compressed is counted as it unpacks; where a reader cannot count, its process is killed.</li>
      </ul>

      <h2>Outgoing requests</h2>
      <ul>
        <li>
          Addresses that a model, a caller or the data of a run chose are on the internet only. Where a name leads is looked at when the
          connection is made, redirects too.
        </li>
        <li>
          Addresses on this machine or its networks (a model, a database, an MCP server) are saved by install admins only, and then serve
          everybody in that project. <code>ALLOW_PRIVATE_NETWORK=1</code> opens them to all, and cloud metadata with them.
        </li>
        <li>Every answer has a bound in bytes and in time, and work in proportion to them.</li>
      </ul>

      <h2>Secrets</h2>
      <ul>
        <li>
          LLM keys, credentials, headers of MCP servers and webhook secrets are encrypted with <code>ENCRYPTION_KEY</code>, and never shown
          again.
        </li>
        <li>
          <Link href="/docs/credentials">Credentials</Link> that a run reads are masked in all that it keeps or shows, in either letter
          case, escaped for JSON, Markdown, HTML or addresses, in hexadecimal and in Base64, and across the pieces of a stream.
        </li>
        <li>
          An agent that is given a secret can pass it on to its model and tools, and a model can spell it backwards or letter by letter.
          Name a secret only where whoever reads it may have it.
        </li>
        <li>
          Settings leave the environment once they are read, so no process that the service starts is given a password or a key by it. An
          Inngest server gets ids and states only.
        </li>
      </ul>

      <h2>Size and cost</h2>
      <ul>
        <li>
          A project holds at most <code>PROJECT_STORAGE_BYTES</code>, and starts a limited number of runs in an hour. A text that passes
          through many nodes is stored once for each run.
        </li>
        <li>Projects for each person, invitations and new accounts in an hour, calls in one request and output schemas have bounds.</li>
        <li>An Inngest server that hangs holds up no answer: each event has one try of two seconds, and the sweeper sends it again.</li>
      </ul>

      <h2>What does not hold</h2>
      <ul>
        <li>
          An admin of any project can lock out somebody whose address is not verified, until another admin invites them again. Nothing is
          seen or lost. With a mail server or a sign-in service there are no such accounts.
        </li>
        <li>
          The operator’s own OpenID Connect issuer is believed about addresses unless it says that one is not verified. Do not name an
          issuer where anybody can register with an address that is not theirs.
        </li>
        <li>
          A proxy on the same machine that speaks HTTP/1.1, adds no forwarding header and does not keep the host looks like the machine
          itself. Set <code>TRUST_PROXY</code> or <code>APP_URL</code> before the first start.
        </li>
        <li>
          Traffic is encrypted by a proxy of yours, not by this service. Backups hold what the database holds: keep them apart from the key.
        </li>
      </ul>
    </article>
  );
}
