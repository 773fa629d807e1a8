import { expect, test } from "vitest";
import { convertText, convertValue } from "#server/features/workflow-files/n8n/expressions.ts";
import type { Find } from "#server/features/workflow-files/n8n/javascript.ts";
import { parseTemplate } from "#server/workflow/expressions.ts";

/** Everything that came is Scout's; other nodes go by their names. */
const find: Find = (place, path) => {
  if (place.of === "secret") return { head: "credentials", field: place.name, path };
  if (place.of === "run") return { head: "execution", field: "id", path };
  if (place.of === "resume") return { head: "Wait", field: "resume_url", path };
  if (place.of === "index") return { head: "Loop", field: "index", path };
  const head = place.of === "node" ? place.name : "Scout";
  return head === "Nobody" ? undefined : { head, field: "output", path };
};

test.each([
  ["plain, {{ and }} too", "plain, {{ and }} too"],
  ["=Hello {{ $json.name }}!", "Hello {{Scout.output.name}}!"],
  ["Hello {{$json.name}}", "Hello {{Scout.output.name}}"],
  ['={{ $json["first name"] }}', "{{Scout.output.first name}}"],
  ['={{ $json["a.b"]["x|y"][0].z }}', '{{Scout.output["a.b"]["x|y"][0].z}}'],
  ["={{ $json?.a?.[0]?.b }}", "{{Scout.output.a[0].b}}"],
  ["={{ $('Get orders').item.json.id }}", "{{Get orders.output.id}}"],
  ["={{ $('Get orders').first().json.id }}", "{{Get orders.output.id}}"],
  ["={{ $('Get orders').all()[0].json.id }}", "{{Get orders.output.id}}"],
  ['={{ $node["Get orders"].json["id"] }}', "{{Get orders.output.id}}"],
  ["={{ $node.Orders.json.id }}", "{{Orders.output.id}}"],
  ['={{ $items("Orders")[0].json.id }}', "{{Orders.output.id}}"],
  ['={{ $item("0").$node["Orders"].json.id }}', "{{Orders.output.id}}"],
  ["={{ $input.item.json.id }}", "{{Scout.output.id}}"],
  ["={{ $('Get orders').first()?.json?.id }}", "{{Get orders.output.id}}"],
  ["={{ [ /* the first */ $json.a, $json.b // and the other\n] }}", "[{{Scout.output.a | json}}, {{Scout.output.b | json}}]"],
  ["={{ $execution.id }} {{ $execution.resumeUrl }} {{ $itemIndex }}", "{{execution.id}} {{Wait.resume_url}} {{Loop.index}}"],
  ["={{ $env.API_KEY }}{{ $vars['TEAM'] }}", "{{credentials.API_KEY}}{{credentials.TEAM}}"],
  ["={{ $env.API_KEY || 'none' }}", "{{credentials.API_KEY}}"],
  ["={{ $json.name.trim().toUpperCase() }}", "{{Scout.output.name | trim | upper}}"],
  ["={{ $json.tags.join(', ') }}, {{ $json.tags.length }}", '{{Scout.output.tags | join(", ")}}, {{Scout.output.tags | length}}'],
  ["={{ $json.name || 'nobody' }}", '{{Scout.output.name | default("nobody")}}'],
  ["={{ $json.at.toDateTime().format('yyyy-MM-dd HH:mm') }}", '{{Scout.output.at | date("%Y-%m-%d %H:%M")}}'],
  ["={{ DateTime.fromISO($json.at).toFormat('cccc') }}", '{{Scout.output.at | date("%A")}}'],
  ["={{ 'Dear ' + $json.name + ',' }}", "Dear {{Scout.output.name}},"],
  ["={{ `Dear \u0024{$json.name},` }}", "Dear {{Scout.output.name}},"],
  ["={{ JSON.stringify($json.tags, null, 2) }}", "{{Scout.output.tags | json}}"],
  ["={{ { id: $json.id, \"who\": 'x' } }}", '{ "id": {{Scout.output.id | json}}, "who": "x" }'],
  [
    "={{ JSON.stringify({ list: [1, true, $json.a], text: 'a ' + $json.b }) }}",
    '{ "list": [1, true, {{Scout.output.a | json}}], "text": "a {{Scout.output.b}}" }',
  ],
])("%j is %j here", (written, text) => {
  expect(convertText(written, find)).toEqual({ text, left: [] });
  // Whatever is made can be read here.
  for (const part of parseTemplate(text))
    if ("reference" in part && !written.includes("plain")) expect(part.reference.fault).toBeUndefined();
});

test.each([
  "$json.a + $json.b",
  "$json.a - 1",
  "$json.a ? 'x' : 'y'",
  "$json.list.map(item => item.id)",
  "$json.name.replace('a', 'b')",
  "$now.toISO()",
  "$json.at.format('LLLL do')",
  "$('Nobody').item.json.id",
  "$('Orders').all()",
  "$fromAI('query')",
  "'{{' + $json.a",
  "",
  `"${"x".repeat(5000)}"`,
  "(".repeat(3000),
])("%j stays as it was, for a person to see", (code) => {
  const written = `={{ ${code} }}`;
  expect(convertText(written, find)).toEqual({ text: written.slice(1), left: [code.trim()] });
  expect(convertValue(written, find, undefined)).toBeUndefined();
});

test.each([
  ["={{ $json.total }}", 'json.loads(node_outputs["Scout"])["total"]'],
  ["={{ $('trigger').item.json.total }}", 'json.loads(trigger_output)["total"]'],
  ["={{ $json.name.toLowerCase() }}", 'str(json.loads(node_outputs["Scout"])["name"]).lower()'],
  ["={{ $json.list.length }}", 'len(json.loads(node_outputs["Scout"])["list"])'],
  ["={{ 5 }}", "5"],
  ['it\'s "so"', String.raw`"it's \"so\""`],
  [true, "True"],
])("%j is %j in Python", (written, python) => {
  expect(convertValue(written, find, undefined)).toBe(python);
});

test("braces that never close are looked at once", () => {
  const text = "{{".repeat(200_000);
  expect(convertText(`=${text}`, find)).toEqual({ text, left: [] });
});

test.each([
  ["$json['a\"b\\'c']", String.raw`{{Scout.output["a\"b'c"]}}`],
  ["$json['{x}']", '{{Scout.output["{x}"]}}'],
  ["$json.a.replaceAll('{', '}')", '{{Scout.output.a | replace("{", "}")}}'],
])("%s is written with quotes", (code, text) => {
  expect(convertText(`={{ ${code} }}`, find)).toEqual({ text, left: [] });
});

test("an expression behind a backslash is left to a person", () => {
  const written = String.raw`=C:\{{ $json.a }}`;

  expect(convertText(written, find)).toEqual({ text: written.slice(1), left: ["$json.a"] });
});
