/** How many calls of the web app may come in one request. */
export const MOST_CALLS = 20;
