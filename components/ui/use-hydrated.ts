"use client";

import { useSyncExternalStore } from "react";

const never = () => () => {};

/** False in the server's HTML and until React has taken it over; from then on true. */
export const useHydrated = (): boolean =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
