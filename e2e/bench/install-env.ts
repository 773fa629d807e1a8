/** Key of the owner of an install that is measured. */
export const KEY = `sk-service-${"b".repeat(43)}`;

/** Settings of that install: an owner with the key, and no limit of requests or runs. */
export const INSTALL_ENV = {
  BOOTSTRAP_EMAIL: "bench@example.com",
  BOOTSTRAP_PASSWORD: "bench bench bench",
  BOOTSTRAP_API_KEY: KEY,
  RATE_LIMIT_PER_MINUTE: "0",
  RATE_LIMIT_BURST: "0",
  EXECUTIONS_PER_HOUR: "0",
  ALLOW_PRIVATE_NETWORK: "1",
};
