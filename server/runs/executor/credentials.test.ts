import { describe, expect, it } from "vitest";
import { AppError } from "#server/platform/errors.ts";
import type { EngineServices } from "#server/runs/ports.ts";
import { dyingAfter, newRun } from "#server/testing/new-run.ts";
import { findProblems } from "#server/workflow/problems.ts";

const SECRET = 'tok-"7f3a\\9b"-end';
const credentials: EngineServices["credentials"] = async () =>
  new Map([
    ["TOKEN", SECRET],
    ["OTHER", "never-named-here"],
    ["PIN", "1234"],
  ]);

/** Pieces of three characters, which cut every secret. */
const piecesOf = (text: string): string[] => text.match(/[\s\S]{1,3}/g) ?? [];

const nodes: Parameters<typeof newRun>[0] = {
  t: ["triggerNode"],
  a: ["agentNode", { input: "Use {{credentials.TOKEN}} for {{trigger.output}}" }],
  b: ["branchNode", { condition: '"tok-" in output or "tok-" in trigger_output or "tok-" in str(node_outputs)' }],
  n: ["outputNode", { value: 'quoted {"k":"{{credentials.TOKEN}}"} {{a.output}} {{credentials.PIN}}' }],
  c: ["agentNode", { input: "again {{credentials.TOKEN}} {{n.output}}", on_error: "continue" }],
  l: ["loopNode", { items_expression: '["{{a.output}}", "x"]' }],
  i: ["outputNode", { value: "{{l.current_item}} {{credentials.TOKEN}}" }],
  r: ["humanLoopNode", { title: "{{credentials.TOKEN}}?", description: "{{c.output}}", display_value: "Look: {{credentials.TOKEN}}" }],
  e: ["terminateNode", { status: "failed", message: "Ended with {{credentials.TOKEN}} and {{r.output}}" }],
};
const edges = ["t>a", "a>b", "b.false>n", "n>c", "c>l", "l.body>i", "l.done>r", "r.approved>e"];

/** @param isPatient whether calls wait until what they say has been told */
function canary(isPatient = false) {
  const asked: string[] = [];
  const callAgent: EngineServices["callAgent"] = async ({ agent_id, message, onDelta }) => {
    asked.push(`${agent_id}: ${message}`);
    for (const piece of piecesOf(`I was told: ${message}`)) onDelta(piece);
    if (isPatient) await expect.poll(() => run.memory.deltas.map(({ type, ...of }) => "node_id" in of && of.node_id)).toContain(agent_id);
    if (agent_id === "c") throw new Error(`The provider says: bad prompt ${JSON.stringify(message)}`);
    return { output: `Echo: ${message}`, tool_calls: [{ name: "get", args: { url: `https://x?key=${encodeURIComponent(SECRET)}` } }] };
  };
  const run = newRun(nodes, edges, `input with ${SECRET}`, { credentials, callAgent });
  return { asked, ...run };
}

/** Every spelling that a careless program would leave. */
const spellings = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), SECRET.slice(0, 9)];
const expectHidden = (kept: unknown) => {
  const text = JSON.stringify(kept);
  for (const spelling of spellings) for (const form of [spelling, JSON.stringify(spelling).slice(1, -1)]) expect(text).not.toContain(form);
};

async function playThrough(run: ReturnType<typeof canary>, go: () => Promise<string>) {
  for (let round = 0; round < 40; round++) {
    const kind = await go();
    if (run.memory.ending()) return;
    if (kind === "waiting") run.memory.decide("r", "approved", `my comment ${SECRET}`);
  }
}

describe("a run whose expressions read a credential", () => {
  it("gives it to what a node calls, and keeps and tells it nowhere", async () => {
    const run = canary(true);
    expect(run.problems()).toEqual([]);
    await playThrough(run, async () => (await run.go()).kind);
    const { memory, asked } = run;
    expect(asked).toEqual([
      `a: Use ${SECRET} for input with ••••`,
      `c: again ${SECRET} quoted {"k":"••••"} Echo: Use •••• for input with •••• 1234`,
    ]);
    expect(memory.ending()).toMatchObject({ status: "failed", error: "Ended with •••• and approved: my comment ••••" });
    expectHidden([memory.commits, memory.deltas]);
    const output = (id: string) => memory.rows().findLast((row) => row.node_id === id && row.status !== "running");
    expect(output("a")).toMatchObject({ input: "Use •••• for input with ••••", output: "Echo: Use •••• for input with ••••" });
    expect(output("a")?.tool_calls).toEqual([{ name: "get", args: { url: "https://x?key=••••" } }]);
    expect(output("b")).toMatchObject({ output: "False" });
    expect(output("c")?.error).toContain("bad prompt");
    expect(output("i")).toMatchObject({ output: "x ••••" });
    const said = memory.deltas.flatMap((event) => (event.type === "node_delta" && event.node_id === "a" ? [event.content] : []));
    expect(said.join("")).toBe("I was told: Use •••• for input with ••••");
    const paused = memory.events().find(({ type }) => type === "execution_paused");
    expect(paused).toMatchObject({ title: "••••?", display_value: "Look: ••••" });
  });

  it("reads the same after a crash before or after any write", async () => {
    const whole = canary();
    await playThrough(whole, async () => (await whole.go()).kind);
    const kept = (run: typeof whole) =>
      Object.fromEntries(
        run.memory.run.ledger
          .filter(({ is_interrupted }) => !is_interrupted)
          .map(({ node_id, iteration, handle, status, output }) => [`${node_id} ${iteration} ${handle}`, [status, output]]),
      );
    for (let write = 1; write <= whole.memory.commits.length; write++) {
      const broken = canary();
      let writes = 0;
      const store = dyingAfter(broken.memory.store, () => ++writes === write);
      await playThrough(broken, async () =>
        broken.go(1e6, { store }).then(
          ({ kind }) => kind,
          () => "killed",
        ),
      );
      expect(broken.memory.ending()).toEqual(whole.memory.ending());
      expect(kept(broken)).toEqual(kept(whole));
      expectHidden([broken.memory.commits, broken.memory.deltas]);
      for (const message of broken.asked) expect(whole.asked).toContain(message);
    }
  }, 60_000);

  it("has what an expression of a pure node cuts short masked before", async () => {
    const long = { value: `${"x".repeat(195)}{{credentials.TOKEN}}`, format: "json" };
    const { go, memory } = newRun({ t: ["triggerNode"], o: ["outputNode", long] }, ["t>o"], "", { credentials });
    await go();
    expect(memory.ending()?.error).toContain(`${"x".repeat(195)}••••`);
    expectHidden(memory.commits);
  });

  it("fails where a credential is gone, naming the nearest, or cannot be read, without trying again", async () => {
    const simple = { t: ["triggerNode"], o: ["outputNode", { value: "{{credentials.TOKN}}" }] } as typeof nodes;
    const gone = newRun(simple, ["t>o"], "", { credentials });
    expect(await gone.go()).toMatchObject({ kind: "over" });
    expect(gone.memory.ending()?.error).toBe('o: {{credentials.TOKN}}: credentials has no "TOKN". Did you mean "TOKEN"?');
    const sealed = async () => Promise.reject(new AppError("INTERNAL_ERROR", "A stored secret cannot be read."));
    const unreadable = newRun(simple, ["t>o"], "", { credentials: sealed });
    expect(await unreadable.go()).toMatchObject({ kind: "over" });
    expect(unreadable.memory.ending()?.error).toContain("credentials cannot be read");
    const away = newRun(simple, ["t>o"], "", { credentials: async () => Promise.reject(new Error("away")) });
    await expect(away.go()).rejects.toThrow("away");
  });
});

it("asks for no credentials where the graph names none", async () => {
  const never = async () => Promise.reject(new Error("asked"));
  const { go, memory } = newRun({ t: ["triggerNode"], o: ["outputNode", { value: "credentials {{t.output}}" }] }, ["t>o"], "x", {
    credentials: never,
  });
  await go();
  expect(memory.ending()?.output).toBe("credentials x");
});

describe("the checks of a graph", () => {
  const problems = (value: string, credentialNames?: string[], label = "Out") =>
    findProblems(newRun({ t: ["triggerNode"], o: ["outputNode", { value, label }] }, ["t>o"]).graph, {
      agentName: () => "",
      credentialNames,
    });

  it("find a credential that the project does not have, and name the nearest", () => {
    expect(problems("{{credentials.TOKN}}", ["TOKEN", "OTHER"])).toEqual([
      {
        node_id: "o",
        field: "value",
        message: '{{credentials.TOKN}}: the project has no credential "TOKN". Did you mean "TOKEN"?',
        severity: "error",
      },
    ]);
    expect(problems("{{credentials.TOKEN}}", [])[0]?.message).toContain("Add it in the project's settings.");
    expect(problems("{{Credentials.TOKEN}} {{ credentials.TOKEN }}", ["TOKEN"])).toEqual([]);
    expect(problems("{{credentials.ANY}}")).toEqual([]);
  });

  it("find a path into one, and a name that is nearly the root's", () => {
    expect(problems("{{credentials.TOKEN.key}}", ["TOKEN"])[0]?.message).toContain("is one text. Write {{credentials.TOKEN}}");
    expect(problems("{{credential.TOKEN}}", ["TOKEN"])[0]?.message).toContain('Did you mean "credentials"?');
  });
});

it("a long error is cut only after its secrets are masked", async () => {
  const graph: typeof nodes = { t: ["triggerNode"], a: ["agentNode", { input: "{{credentials.TOKEN}}" }] };
  const callAgent: EngineServices["callAgent"] = () => Promise.reject(new Error(`${"x".repeat(9_990)}${SECRET}${"y".repeat(100)}`));
  const { memory, go } = newRun(graph, ["t>a"], "", { credentials, callAgent });
  await go();
  expect(memory.ending()?.error).toMatch(/^a: x+.*…$/);
  expect(JSON.stringify([memory.rows(), memory.commits])).toContain("xxx••••");
  expect(JSON.stringify([memory.rows(), memory.commits, memory.ending()])).not.toContain(SECRET.slice(0, 4));
});
