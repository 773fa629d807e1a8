import type { Metadata } from "next";
import Link from "next/link";
import { priceList } from "#server/llm/prices.ts";

export const metadata: Metadata = { title: "Costs" };

export default function Costs() {
  return (
    <article className="prose max-w-168">
      <h1>Costs</h1>
      <p>
        Every call of a model is counted with its tokens and what it cost, in US dollars. The cost stands on the node, in the log and on the
        run, and <Link href="/settings/usage">Usage</Link> in the settings adds it up for the project: by day, agent, workflow and model.
        Tests and chats with an agent count too, and so do the vectors that an embedding model makes of knowledge and of the questions to
        it. What a call had used when it failed, or when a cancellation cut it off, is counted as well.
      </p>
      <h2>Where prices come from</h2>
      <p>
        The built-in list holds what vendors asked on {priceList.as_of} for standard calls. It holds only at the vendors’ own addresses: for
        a gateway, your own server, an Azure deployment under a name of your own, or a model that the list does not know, set the price at
        the LLM key, under <Link href="/keys">LLM keys</Link>. So you do when you pay another price than the list says. The key’s own prices
        come first.
      </p>
      <p>
        A price is for a model id and its dated versions: <code>gpt-4.1</code> stands for <code>gpt-4.1-2025-04-14</code>, not for{" "}
        <code>gpt-4.1-mini</code>. With <code>*</code> at its end it stands for every id that begins so, and <code>*</code> alone for all.
        What is free has the price 0. Input that the provider read from its cache, and says so, is counted at the cached price (
        <code>cached_input_per_million</code>) where there is one, and else as other input. Over REST, <code>prices</code> of{" "}
        <code>PUT /llm-keys/{"{key_id}"}</code> replaces the key’s prices:
      </p>
      <pre>
        <code>{'{"prices": [{"model": "llama-*", "input_per_million": 0.2, "output_per_million": 0.6}]}'}</code>
      </pre>
      <h2>What is not known</h2>
      <p>
        A price that is not known is never taken as 0. The cost is then <code>null</code>, and shown as “price unknown”. A sum with such a
        part holds what is known, and <code>cost_is_partial</code> is true. The same holds where a server does not say how many tokens it
        took, and for questions longer than the list’s price goes.
      </p>
      <h2>What stays</h2>
      <p>
        A cost is computed when the model answers. A price that is changed later counts from then on, and rewrites nothing. Usage stays when
        executions are removed by their retention, or an agent is deleted. Days are UTC.
      </p>
      <h2>What is not in it</h2>
      <p>
        Discounts for batches, taxes, searches on the web, the tiny call that checks an agent when it is saved, and what a vendor charges
        for an answer that was cut off in the middle, whose tokens it does not tell. So it is an estimate; the vendor’s bill is right.
      </p>
      <h2>Over REST</h2>
      <p>
        <code>GET /usage?from=2026-11-01&amp;to=2026-11-30&amp;group_by=agent</code> answers with <code>total</code> and <code>items</code>,
        each with <code>calls</code>, <code>calls_without_price</code>, <code>input_tokens</code>, <code>output_tokens</code>,{" "}
        <code>cost</code> and <code>cost_is_partial</code>. <code>group_by</code> is <code>day</code>, <code>agent</code>,{" "}
        <code>workflow</code>, <code>model</code> or <code>source</code>. See the <Link href="/docs/api">API reference</Link>.
      </p>
    </article>
  );
}
