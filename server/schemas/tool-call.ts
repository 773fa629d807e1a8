import { z } from "zod";

/** A tool that a model called, and with what. Apart from agents, so that who reads runs need not load those. */
export const ToolCall = z
  .object({
    name: z.string().meta({ example: "web_search" }),
    args: z.record(z.string(), z.unknown()).meta({ example: { query: "looms" } }),
  })
  .meta({ id: "ToolCall" });
