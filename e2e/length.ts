import { test } from "@playwright/test";

/** How much of a test that takes long there is: a short form in `npm test -- --all`, all of it in `npm run test:faults`. */
export const lengthOf = <Length>({ short, long }: { short: Length; long: Length }): Length =>
  test.info().config.metadata.isLong ? long : short;
