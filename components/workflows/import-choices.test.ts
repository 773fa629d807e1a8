import { expect, test } from "vitest";
import { fileNameOf } from "#components/workflows/export-file.ts";
import { CREATE_AGENT, countOpenItems, defaultChoices, LEAVE_OPEN, linksOf, missingChoice } from "#components/workflows/import-choices.ts";
import { parseFile } from "#components/workflows/use-import.ts";
import type { ImportCheck } from "#server/features/workflow-files/schema.ts";

const agent = (key: string, more: Partial<ImportCheck["agents"][number]> = {}) => ({
  key,
  name: key,
  model: "",
  provider: null,
  needs_tools: false,
  is_defined: true,
  existing: null,
  nodes: [key],
  ...more,
});
const check: ImportCheck = {
  name: "Flow",
  description: "",
  node_count: 4,
  trigger: "manual",
  agents: [
    agent("here", { existing: { id: "a-1", name: "here" } }),
    agent("new", { provider: "mistral" }),
    agent("blank", { is_defined: false }),
  ],
  mcp_servers: [{ name: "Tracker", existing: { id: "m-1", name: "Tracker" }, agents: ["here"] }],
  rag_sources: [
    { name: "Handbook", existing: { id: "r-1", name: "Handbook" }, agents: ["new"] },
    { name: "Wiki", existing: null, agents: ["here", "new"] },
  ],
  skills: [],
  workflows: [],
  credentials: [
    { name: "A", exists: true },
    { name: "B", exists: false },
  ],
  masked: [],
  is_complete: false,
  import_report: null,
};
const keys = [
  { id: "k-1", provider: "openai" },
  { id: "k-2", provider: "mistral" },
];

test("the first choice is what is here, then a new agent with a key of its kind", () => {
  const choices = defaultChoices(check, keys);
  expect(choices).toMatchObject({ keyId: "k-2", agents: { here: "a-1", new: CREATE_AGENT, blank: LEAVE_OPEN } });
  expect(choices.sources).toEqual({ Handbook: "r-1", Wiki: LEAVE_OPEN });
  expect(defaultChoices(check, []).agents).toEqual({ here: "a-1", new: LEAVE_OPEN, blank: LEAVE_OPEN });
});

test("only what agents that are made have is linked", () => {
  const choices = { ...defaultChoices(check, keys), model: " echo " };
  expect(linksOf(check, choices)).toEqual({
    agents: [
      { key: "here", action: "use", agent_id: "a-1" },
      { key: "new", action: "create", llm_key_id: "k-2", model: "echo" },
      { key: "blank", action: "open" },
    ],
    mcp_servers: [],
    rag_sources: [
      { name: "Handbook", rag_id: "r-1" },
      { name: "Wiki", rag_id: null },
    ],
  });
  // The undescribed agent, the source and the credential.
  expect(countOpenItems(check, choices)).toBe(3);
});

test("what is missing is told before anything is sent", () => {
  const choices = defaultChoices(check, keys);
  expect(missingChoice(check, choices)).toContain("Choose a model");
  expect(missingChoice(check, { ...choices, model: "echo" })).toBeNull();
  expect(missingChoice(check, { ...choices, model: "echo", keyId: "" })).toContain("Choose the LLM key");
  expect(missingChoice(check, { ...choices, model: "echo", name: " " })).toContain("name");
  expect(missingChoice(check, defaultChoices(check, []))).toBeNull();
});

test.each([
  ["Daily digest", "daily-digest.treadle.json"],
  ["Über: Kärn & Co", "über-kärn-co.treadle.json"],
  ["../..", "workflow.treadle.json"],
  ["日報", "日報.treadle.json"],
])("%s is saved as %s", (name, file) => expect(fileNameOf(name)).toBe(file));

test("a text that is no JSON object is told apart", () => {
  expect(parseFile('{"a": 1}')).toEqual({ file: { a: 1 } });
  for (const [text, sentence] of [
    ["", "nothing in it"],
    ["[1]", "no workflow"],
    ["name: x", "not JSON"],
    [`"${"x".repeat(4_000_001)}"`, "larger than 4 MB"],
  ] as const)
    expect(parseFile(text)).toEqual({ fault: expect.stringContaining(sentence) });
});
