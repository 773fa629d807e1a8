import { Globe } from "lucide-react";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import { type NodeUi, ON_ERROR } from "#components/workflow-editor/nodes/types.ts";
import { AuthFields, FormBody, TextBody } from "#server/workflow/nodes/http-node.ts";

export const httpNodeUi: NodeUi<"httpNode"> = {
  icon: Globe,
  role: "interface",
  firstPin: "{}",
  choices: {
    on_error: ON_ERROR,
    "auth.kind": {
      none: { label: "None" },
      bearer: { label: "Bearer token" },
      basic: { label: "User name and password" },
      header: { label: "A header" },
    },
    body_type: { none: { label: "None" }, json: { label: "JSON" }, form: { label: "Form" }, text: { label: "Text" } },
    accept: { "2xx": { label: "Success (200 to 299)" }, any: { label: "Any", description: "Its status is read by {{label.status}}" } },
  },
  fields: ({ body_type }) =>
    [
      "method",
      "url",
      "query",
      "headers",
      "auth",
      "body_type",
      "body",
      "timeout",
      "retries",
      "accept",
      "follow_redirects",
      "on_error",
    ].filter((name) => name !== "body" || body_type !== "none"),
  schemaOf(field, { auth, body_type }) {
    if (field === "auth") return AuthFields[auth.kind];
    return field === "body" ? (body_type === "form" ? FormBody : TextBody) : undefined;
  },
  sentence: ({ method, url }) => [
    { chip: method },
    " ",
    ...(url.trim() ? templateChips(url) : [{ chip: "an address", tone: "missing" as const }]),
  ],
};
