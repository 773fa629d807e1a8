"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { streamChat } from "#components/agents/chat-stream.ts";
import { type Exchange, historyOf, newExchange, withEvent } from "#components/agents/chat-turns.ts";

export interface Chat {
  exchanges: Exchange[];
  isRunning: boolean;
  send: (message: string) => void;
  /** Asks the last question once more, in place of what came of it. */
  again: () => void;
  /** Ends the call under way; what came so far stays. */
  stop: () => void;
  /** Forgets everything. */
  clear: () => void;
}

/** A conversation with an agent that lives as long as the page. */
export function useChat(agentId: string, projectId: string): Chat {
  const [exchanges, setExchanges] = useState<Exchange[]>([]);
  const call = useRef<AbortController | null>(null);
  const count = useRef(0);
  useEffect(() => () => call.current?.abort(), []);

  const change = useCallback((id: number, next: (exchange: Exchange) => Exchange) => {
    setExchanges((all) => all.map((one) => (one.id === id ? next(one) : one)));
  }, []);

  const isRunning = exchanges.at(-1)?.state === "running";
  const send = async (message: string, before: readonly Exchange[]) => {
    if (isRunning || message.trim() === "") return;
    count.current += 1;
    const id = count.current;
    const controller = new AbortController();
    call.current = controller;
    setExchanges([...before, newExchange(id, message)]);
    const started = performance.now();
    await streamChat({
      agentId,
      projectId,
      message,
      history: historyOf(before),
      signal: controller.signal,
      onEvent: (event) => change(id, (exchange) => withEvent(exchange, event)),
    });
    const tookMs = performance.now() - started;
    change(id, (exchange) => ({ ...exchange, state: exchange.state === "running" ? "stopped" : exchange.state, tookMs }));
  };

  return {
    exchanges,
    isRunning,
    send: (message) => void send(message, exchanges),
    again: () => {
      const last = exchanges.at(-1);
      if (last) void send(last.message, exchanges.slice(0, -1));
    },
    stop: () => call.current?.abort(),
    clear: () => {
      call.current?.abort();
      setExchanges([]);
    },
  };
}
