/** The most characters that one node may leave behind, or a loop's items together. */
export const MAX_OUTPUT = 16 * 1024 * 1024;
/** The most that the outputs of a run may have together, so that they can be put into one text. */
export const MAX_RESULT = 8 * MAX_OUTPUT;
/** The most that a run may hold: what its nodes have left behind outside of loops, Outputs inside them, and items under way. */
export const MAX_HELD = 32 * MAX_OUTPUT;
/** How many characters of input and output a list shows, and a preview. */
export const PREVIEW_CHARACTERS = 2000;
/** An output with more characters than this is told and listed as a preview, with the address of the whole. */
export const LARGE_OUTPUT = 256 * 1024;

const mib = (characters: number) => `${(characters / 1024 / 1024).toFixed(1)} MiB`;

/** Why a result was not taken. */
export const tooLarge = (characters: number): string =>
  `The output has ${mib(characters)}, more than the ${mib(MAX_OUTPUT)} that one node may leave behind. Shorten it, or pass on a part.`;

/** Why a node was not given a text. */
export const tooLong = (characters: number): string =>
  `What this node is given has more than the ${mib(MAX_OUTPUT)} that one node may work with: ${mib(characters)} at least. Pass on a part.`;

/** The most characters of an error that are kept and told. */
const MAX_ERROR = 10_000;

/** An error as it is kept and told: whole, or of a long one the beginning. */
export const shortError = (error: string): string =>
  error.length <= MAX_ERROR ? error : `${error.slice(0, MAX_ERROR - 1).toWellFormed()}…`;

/** Why a result was not taken, or a run's results were not put together. */
export const tooMuch = (characters: number, most: number): string =>
  `The results of the run have ${mib(characters)} together, more than the ${mib(most)} that one run may have. Keep less of it.`;

/** Where a node's whole output can be read (REST). */
export function outputUrl(execution_id: string, node_id: string, iteration: string): string {
  const query = iteration ? `?iteration=${encodeURIComponent(iteration)}` : "";
  return `/api/v1/executions/${execution_id}/nodes/${encodeURIComponent(node_id)}/output${query}`;
}

const previewOf = (text: string): string => text.slice(0, PREVIEW_CHARACTERS).toWellFormed();

/** Formats a text for a response: whole, or the beginning of a large one. */
export const beginningOf = (text: string): string => (text.length <= LARGE_OUTPUT ? text : previewOf(text));

/**
 * Formats an output for a response: whole, or the beginning of a large one with the URL of the whole.
 * @param output_length characters of the whole, where only the beginning is at hand
 */
export function toldOutput<Output extends string | null>(output: Output, url: string, output_length?: number) {
  if (output === null || (output_length === undefined && output.length <= LARGE_OUTPUT)) return { output };
  return {
    output: previewOf(output) as Output,
    truncated: true,
    output_length: output_length ?? output.length,
    output_url: url,
  };
}
