"use client";

import { createContext, type Provider, use } from "react";

/**
 * A context that can be read only inside its provider; elsewhere reading it throws.
 * @param name the provider's, for the message
 * @returns the provider, and the hook that reads what it was given
 */
export function createStrictContext<Value extends object>(name: string): [Provider<Value | null>, () => Value] {
  const Context = createContext<Value | null>(null);
  const read = () => {
    const value = use(Context);
    if (!value) throw new Error(`This needs a ${name} around it.`);
    return value;
  };
  return [Context, read];
}
