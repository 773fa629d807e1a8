import type { Metadata } from "next";
import Link from "next/link";
import { Example } from "#app/docs/example.tsx";
import { SettingsTable } from "#components/docs/settings-table.tsx";

export const metadata: Metadata = { title: "Administration" };

const rights: readonly [string, string][] = [
  ["viewer", "Reads everything in the project but the audit log."],
  [
    "editor",
    "Also builds, changes, runs and deletes workflows, agents, knowledge, MCP servers, skills and canvases, chats, and decides reviews.",
  ],
  ["admin", "Also manages members, LLM keys and credentials, reads the audit log, and changes and deletes the project."],
];

export default function Administration() {
  return (
    <article className="prose max-w-168">
      <h1>Administration</h1>
      <h2>First owner</h2>
      <p>
        The first account is made in a browser on the machine that runs Treadle, at an address such as <code>http://localhost:3000</code>.
        From anywhere else, in a container, and where <code>APP_URL</code> or <code>TRUST_PROXY</code> say that people come from outside, it
        needs the whole address that the start prints: <code>/setup?code=…</code>. Each start prints a new code, and each process knows its
        own; it is good until there is an owner. Without a browser, set <code>BOOTSTRAP_EMAIL</code> and <code>BOOTSTRAP_PASSWORD</code>.
      </p>
      <h2>Roles</h2>
      <table>
        <tbody>
          {rights.map(([role, meaning]) => (
            <tr key={role}>
              <td className="font-medium">{role}</td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        A new member is invited, with an account or without: the invitation works once, for seven days. Its link is in the answer, to be
        handed over; with a mail server another link goes by mail. The same call changes the role of a member. A project keeps at least one
        admin.
      </p>
      <Example file="add-member.sh" />
      <h2>Whose account it is</h2>
      <p>
        Anybody can type anybody’s address. It is verified once a mailed link was opened, or a sign-in service said so; the owner’s counts
        from the start. A verified account is asked in the app before it joins a project. Of any other, whoever invites is told when and how
        it was made, and should hand the link to the person they mean: who knows the account’s password joins with it, and anybody else sets
        a new one, which ends the old password with its sessions and API keys. A link that was handed over opens its one project; the
        account’s other projects wait, under <Link href="/settings/profile">Settings, Profile</Link>, for whoever knows the old password.
        The first sign-in through a service ends an unverified password in the same way, and keeps the projects.
      </p>
      <p>
        Signing out ends that session on the server. A new password ends every other, and with a tick your API keys. Who is removed from a
        project is out at the next request, and open streams end within fifteen seconds.
      </p>
      <h2>API keys</h2>
      <p>
        A key acts as its owner, within what it was given under <Link href="/settings/api-keys">Settings, API keys</Link>. The list there
        tells how it begins, and when and from which address it was used last.
      </p>
      <ul>
        <li>
          <b>Scopes</b>: <code>read</code> is everything that only reads; <code>run</code> starts, cancels and repeats runs, decides reviews
          and asks agents; <code>write</code> is every other change, members and secrets included. None includes another: a program that
          starts runs and follows them needs <code>read</code> and <code>run</code>. What a key may write can start runs by itself, such as
          a schedule. Out of scope is 403; the <Link href="/docs/api">API reference</Link> says the scope of each operation.
        </li>
        <li>
          <b>Projects</b>: all of its owner’s, or some. To a key for some, others do not exist (404), and what concerns the account, such as
          making projects and keys, is 403.
        </li>
        <li>
          <b>Time</b>: expired is 401. A key makes no key with more rights than its own, nor one that lasts longer.
        </li>
      </ul>
      <h2>Install admins and private addresses</h2>
      <p>
        Whoever makes a project is its admin. So that nobody reaches the machine that Treadle runs on through a project, an address on it or
        on its networks is saved only by an install admin: the base URL of an LLM key (a model at <code>localhost</code>), an MCP server, a
        knowledge source, or the credential <code>SEARXNG_URL</code>. It then works for everybody in that project until somebody changes it.
        Cloud metadata and other link-local addresses are never called. <code>ALLOW_PRIVATE_NETWORK=1</code> opens all of this to everybody,
        and to scrapers and documents by address, too.
      </p>
      <p>
        The first owner is an install admin and names others under <Link href="/settings/install">Settings, Install</Link>. After an upgrade
        from a version without install admins that is whoever has had an account for longest; private addresses in the projects of that
        person go on working, those in all others are called again once an install admin, as a member of the project, has saved them.
      </p>
      <h2>Audit log</h2>
      <p>
        <Link href="/settings/audit">Settings, Audit log</Link> tells who changed what, when, and by which way: the web app, an API key, a
        link in a mail, or the service itself. Names and addresses stand as they were then; secrets never. Entries cannot be changed, and
        last as long as the project.
      </p>
      <Example file="read-audit.sh" />
      <h2>How long runs are kept</h2>
      <p>
        For ever, unless <Link href="/settings/project">Settings, Project</Link> says for how many days. Once an hour, runs that ended
        longer ago are deleted with their inputs, outputs and logs. One that still runs or waits for a review is never deleted.
      </p>
      <Example file="set-retention.sh" />
      <h2>Deleting a project</h2>
      <p>
        It is gone for everybody at once. What runs is cancelled and its model calls stop; schedules fire no more; webhooks answer 401; LLM
        keys and credentials are deleted. Workflows, agents, knowledge, runs and the audit log go with it, many runs in the background. This
        cannot be undone.
      </p>
      <Example file="delete-project.sh" />
      <h2>Deleting an account</h2>
      <ul>
        <li>All sessions and API keys of it end, and the address is free again.</li>
        <li>Projects with another admin go on. What the user did there stays, with the name.</li>
        <li>Projects that nobody else is in are deleted with it, if the call says so; otherwise it is refused with 409.</li>
        <li>While the user is the last admin of a project with other members, it is refused with 409. Make somebody else admin first.</li>
        <li>So is the last install admin, as long as anybody else has an account.</li>
      </ul>
      <Example file="delete-account.sh" />
      <p>
        An account without a password, of a sign-in through others, is deleted in the web app, under{" "}
        <Link href="/settings/profile">Settings, Profile</Link>.
      </p>
      <h2>Limits</h2>
      <p>
        API requests are counted for each client address, 200 in a minute and 30 in five seconds, and runs for each project, 100 in an hour:
        those that the API, webhooks, HTTP triggers and schedules start. What a person tries in the app, runs of drafts and reruns, is not
        counted. Admins change the figure of their project under <Link href="/settings/project">Settings, Project</Link>, as far as{" "}
        <code>EXECUTIONS_PER_HOUR_MAX</code> lets them, and the app says when four fifths of it are used. Both windows of requests slide: in
        whichever five seconds, no more than 30 are let in. Over a limit the answer is 429 with <code>Retry-After</code>, and nothing was
        done. Behind a proxy set <code>TRUST_PROXY=1</code>, or all clients share one address.
      </p>
      <p>
        The web app’s own calls do not count there. Pages, their calls and sign-in have limits of their own, which no person meets:{" "}
        <code>RATE_LIMIT_WEB</code>. A password may be tried ten times in 15 minutes from one address, and 50 times in an hour and 200 in a
        day from all together; where its owner has signed in during the last 90 days, others’ tries do not count. Of IPv6 the network (/64)
        counts as one address.
      </p>
      <p>
        A project may hold <code>PROJECT_STORAGE_BYTES</code>, 10 GB: runs with what went through them, documents with their vectors, and
        the graphs of workflows. What it holds stands under <Link href="/settings/project">Settings, Project</Link>, and the app says when
        it is four fifths of that. A full project starts no run and takes no document and no new version of a workflow: the answer is 409
        and says what to do, a schedule leaves a failed run with the reason. A run that has begun may go a tenth beyond it, then it fails.
        Keep runs for a shorter time or delete documents, and it goes on. A text of more than 16,384 characters counts once for each run,
        however many nodes pass it on.
      </p>
      <p>
        A body may have <code>MAX_BODY_BYTES</code>, at pages and sign-in 64 KiB. Bodies that have not arrived whole may hold 64 MiB of one
        client and 256 MiB of all; more is refused with 429.
      </p>
      <h2>Back up</h2>
      <p>
        Back up <code>DATA_DIR</code> while the service is stopped: it holds the database and the secrets. With a database of yours, back up
        that one, and keep <code>ENCRYPTION_KEY</code> in another place; without it the stored secrets cannot be read.
      </p>
      <p>
        Do so before an update: its first start brings the database up to date. Should a migration break off half-way, each start after it
        names it and ends; put the backup back then, and start again.
      </p>
      <h2>Memory</h2>
      <p>
        A process holds about 220 MB when nothing runs, and stays below 300 MB with ordinary runs, since <code>npm start</code> tells Node
        to tidy up often; whoever starts <code>server/main.ts</code> in another way gives Node{" "}
        <code>--max-semi-space-size=8 --heap-growing-percent=30</code>, or reckons with two to three times as much. PostgreSQL and large
        results come on top: one run holds up to 512 Mi characters.
      </p>
      <h2>Several processes on one database</h2>
      <p>Give each process the same settings, a PostgreSQL among them:</p>
      <Example file="several-processes.env" />
      <p>
        Start any number of <code>npm start</code>, or web and executor apart with <code>npm start -- --role web</code> and{" "}
        <code>npm start -- --role worker</code>. They share limits, live streams and runs: when one dies, another goes on with its runs from
        the last recorded node. That takes up to half a minute, or no time when a process starts again in the same <code>DATA_DIR</code>, so
        give each a folder of its own. The clocks must agree (NTP).
      </p>
      <h2>A real Inngest server</h2>
      <p>
        The embedded executor carries runs over restarts by itself. To have an <a href="https://www.inngest.com">Inngest</a> server carry
        them, self-hosted or in the cloud, name it, and tell it the address <code>/api/inngest</code> of this service:
      </p>
      <Example file="inngest.env" />
      <p>
        Only ids and states go there; inputs, outputs and secrets stay in your database. In the server’s own pages a failed execution is a
        failed run of a function. A self-hosted server needs a Redis of its own (<code>--redis-uri</code>), or it forgets its runs at a
        restart; it also comes back to them quickly only with one. The file <code>compose.yaml</code> shows all of it, and{" "}
        <code>npm run smoke:inngest</code> plays a set of workflows against it, which needs 11 runs of the hour.
      </p>
      <p>
        While the server is away or hangs, runs are accepted and wait; the API answers as ever, and a synchronous HTTP trigger answers 202
        with the execution’s id. They begin within seconds once it is back. <code>/api/health/ready</code>,{" "}
        <Link href="/settings/project">Settings, Project</Link> and the page of a run that waits tell when the last event was taken, when
        the last signed call came, and why the last one was refused: another signing key or event key, a wrong address, no server. Readiness
        then says <code>degraded</code> and stays 200, since the server’s own calls must get through.
      </p>
      <p>
        Calls are signed with the time, and one that is more than five minutes off is refused: keep the clocks of both machines in step
        (NTP). After <code>kill -9</code>, a model’s answer that was there but not yet recorded is asked for once more.
      </p>
      <p>
        The server calls one address, so several processes need one that stands for all of them: a name with all their addresses, or a load
        balancer that keeps the <code>Host</code> header. Then the runs of one that dies go on in another. The server registers the address
        and the functions with their limits when it starts: restart it after an update of this service, and after a change of{" "}
        <code>PROJECT_CONCURRENCY</code>, of the address or of a key. <code>WORKER_CONCURRENCY</code> is the embedded executor’s only.
      </p>
      <p>
        A short run costs about 57 ms of processor time with a server, 40 of them the server’s own, and 4 with the embedded executor: one
        core is full with some 17 runs a second, or some 250. So up to a few hundred short runs a second the embedded executor, in as many
        processes as you like, is the cheaper one, and a server pays for its pages, or where more machines share the runs than one
        PostgreSQL can coordinate. Runs of agents, which mostly wait for models, notice neither.
      </p>
      <p>
        To try it with an Inngest dev server, set <code>INNGEST_DEV=1</code> in place of all three. Nothing is signed then, so only a dev
        server on this machine is answered; calls from elsewhere, or passed on by a proxy, are refused with 403.
      </p>
      <h2>All settings</h2>
      <p>
        Variables of the environment, read at the start. An empty one counts as not set; one that cannot be used stops the start with a
        sentence about it.
      </p>
      <SettingsTable />
    </article>
  );
}
