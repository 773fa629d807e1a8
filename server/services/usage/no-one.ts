/** Stands in the key of a day's usage for the workflow or the agent of a call that had none. */
export const NO_ONE = "00000000-0000-0000-0000-000000000000";
