import { z } from "zod";
import { defineNode } from "#server/workflow/nodes/definition.ts";

export const noteNode = defineNode({
  type: "noteNode",
  title: "Note",
  summary: "A remark on the canvas, without effect",
  group: "note",
  hasInput: false,
  handles: [],
  isEffect: false,
  isInert: true,
  config: z.looseObject({
    content: z.string().max(50_000).default("").meta({ title: "Text", description: "Markdown", widget: "markdown" }),
    color: z.string().max(30).default("yellow").meta({ title: "Colour", widget: "color" }),
  }),
});
