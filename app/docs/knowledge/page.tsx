import type { Metadata } from "next";
import Link from "next/link";
import { Example } from "#app/docs/example.tsx";

export const metadata: Metadata = { title: "Knowledge" };

const kinds: readonly [string, string, string][] = [
  ["Documents", "documents", "Files, texts and web pages, kept in Treadle’s own database. Needs nothing else."],
  ["pgvector", "pgvector", "A table with vectors in a PostgreSQL of yours."],
  ["Qdrant", "qdrant", "A collection in a Qdrant of yours."],
  ["Search service", "http", "A search of yours that answers JSON over HTTP."],
];

export default function Knowledge() {
  return (
    <article className="prose max-w-168">
      <h1>Knowledge</h1>
      <p>
        A <Link href="/knowledge">source</Link> is something that agents look up before they answer, and cite.
      </p>
      <table>
        <thead>
          <tr>
            <th>Kind</th>
            <th>type</th>
            <th>What is searched</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map(([label, type, meaning]) => (
            <tr key={type}>
              <td className="whitespace-nowrap font-medium">{label}</td>
              <td>
                <code>{type}</code>
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Example file="create-source.sh" />
      <h2>Documents</h2>
      <p>
        PDF, Word (.docx), Markdown, HTML and text files can be added, up to <code>MAX_BODY_BYTES</code> each; so can a text of your own,
        and the address of a page, up to 10 MiB. A scanned PDF without text has nothing to be found.
      </p>
      <Example file="house-rules.md" isNamed />
      <Example file="add-file.sh" />
      <Example file="add-text.sh" />
      <Example file="add-page.sh" />
      <p>
        The answer comes at once. The document is then cut into pieces along its headings or pages and indexed in the background, over
        restarts too: <code>indexing</code> becomes <code>ready</code>, or <code>failed</code> with a reason. What is ready is found at
        once.
      </p>
      <Example file="list-documents.sh" />
      <p>
        A page is not watched.{" "}
        <code>
          POST /rags/{"{rag_id}"}/documents/{"{document_id}"}/index
        </code>
        , “Fetch again” in the web app, reads it anew.
      </p>
      <h2>Search</h2>
      <p>The page of a source has a search that shows what an agent would find. The same over REST:</p>
      <Example file="search-source.sh" />
      <Example file="search-answer.json" label="answer" />
      <p>
        By words, in the language of each document. With an embedding key also by meaning: both lists are merged by rank. <code>score</code>{" "}
        compares results of one answer only.
      </p>
      <h2>Embedding key</h2>
      <p>
        An LLM key and the id of an embedding model make a vector of each piece, and of each question. Changing the model indexes all
        documents anew; meanwhile they are found by words. When the key cannot be used, a search falls back to words too; what failed of a
        search stands in <code>problems</code>, and the agent is told. For pgvector and Qdrant a key is needed: it must be the model that
        made the vectors there.
      </p>
      <Example file="set-embedding.sh" />
      <h2>In an agent</h2>
      <p>
        Tick sources on an agent’s page (<code>rag_ids</code>), and it gets the tool <code>search_knowledge</code> over all of them. Each
        piece comes with its document and place, which the agent is told to cite:
      </p>
      <blockquote>[1] house-rules.md · House › Quiet hours</blockquote>
      <p>
        A number means the same piece for the whole answer, however often the agent searches. The chat on the agent’s page lists the
        documents that an answer cites, as links. What was found in a run is in its log, under <Link href="/docs/agents">tool calls</Link>.
      </p>
      <h2>Stores of your own</h2>
      <p>
        Nothing is copied. Passwords, keys and header values are stored encrypted and shown as ••••; sent back so, they stay. Test says
        whether the store can be reached, and what is wrong if it cannot. A store on a private address is reached when an{" "}
        <Link href="/docs/administration">install admin</Link> saved it, or with <code>ALLOW_PRIVATE_NETWORK=1</code>.
      </p>
      <p>
        A source that an agent uses cannot be deleted (409, which names the agents). Deleting one deletes its documents; what lies in a
        store of yours stays there.
      </p>
    </article>
  );
}
