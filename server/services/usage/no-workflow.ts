/** Stands in the key of a day's usage for calls that no workflow made. */
export const NO_WORKFLOW = "00000000-0000-0000-0000-000000000000";
