import { z } from "zod";

/** Of an output too large to be told whole (contract, section 5; over 256 Ki characters). */
export const cutOutput = {
  truncated: z.boolean().optional().meta({ description: "true: output is only the beginning" }),
  output_length: z.number().int().optional().meta({ description: "Characters of the whole output" }),
  output_url: z.string().optional().meta({ description: "Where the whole output can be read" }),
};

/** Of an agent's answer. */
export const answerTruncated = z.literal(true).optional().meta({
  description: "Only there when the agent's answer ended at the limit of its length (max_tokens, or the model's own) and may be cut",
});

/** What is told of a node's output beside it. */
export const nodeOutput = { ...cutOutput, answer_truncated: answerTruncated };
