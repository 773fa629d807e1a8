"use client";

import { useEffect, useId, useMemo, useSyncExternalStore } from "react";
import type { MessageMode } from "#server/features/assistant/schema.ts";

// What pages and the assistant's panel know of each other. It stands here because every page needs it, and the panel needs many pages.

/** Path of the assistant's own page. */
export const ASSISTANT_PAGE = "/bridge";

interface Named {
  id: string;
  name: string;
}

/** What a page has open and selected; the next message is about it, unless the person takes it off. */
export interface AssistantPlace {
  /** `isBare`: there is only its trigger yet. */
  workflow?: Named & { isBare?: boolean };
  /** A run; its name is that of its workflow. */
  execution?: Named & { hasFailed?: boolean };
  /** A node of the workflow or of the run. */
  node?: Named;
  canvas?: Named;
}

/** What the assistant was opened for. */
export interface AssistantRequest {
  /** Taken along with the next message beside what the page has told. */
  context?: AssistantPlace;
  /** Sent at once; left out, the person writes. */
  prompt?: string;
  mode?: MessageMode;
}

/** Where proposals for a workflow are shown and decided while its canvas is open: what is not saved yet must be saved before. */
export interface ProposalDesk {
  workflow_id: string;
  /** Brings the proposal into view. */
  show(proposalId: string): void;
  /** @throws what the server answered */
  accept(proposalId: string): Promise<void>;
  /** @throws what the server answered */
  reject(proposalId: string): Promise<void>;
}

interface AssistantState {
  isOpen: boolean;
  /** Not taken up yet. */
  request: AssistantRequest | null;
  place: AssistantPlace;
  /** Id of the workflow that the open thread is about. */
  subject: string | null;
  /** Id of the thread in which the assistant was at work when somebody last saw it. */
  atWork: string | null;
  desk: ProposalDesk | null;
}

const CLOSED: AssistantState = { isOpen: false, request: null, place: {}, subject: null, atWork: null, desk: null };
const KEY = "treadle.assistant";

let state = CLOSED;
const listeners = new Set<() => void>();
const places = new Map<string, AssistantPlace>();

function change(part: Partial<AssistantState>): void {
  state = { ...state, ...part };
  for (const listener of listeners) listener();
}

function setOpen(isOpen: boolean): void {
  if (isOpen) document.documentElement.dataset.assistant = "open";
  else delete document.documentElement.dataset.assistant;
  try {
    localStorage.setItem(KEY, isOpen ? "open" : "closed");
  } catch {
    // Without storage it is remembered until the page closes.
  }
  change({ isOpen });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // The boot script has opened the panel before anything was painted, when it was open last time.
  if (!state.isOpen && document.documentElement.dataset.assistant === "open") change({ isOpen: true });
  return () => listeners.delete(listener);
}

/** Everything that the panel is drawn from. */
export const useAssistantState = (): AssistantState =>
  useSyncExternalStore(
    subscribe,
    () => state,
    () => CLOSED,
  );

/** Hands over what the assistant was opened for, once. */
export function takeAssistantRequest(): AssistantRequest | null {
  const { request } = state;
  if (request) change({ request: null });
  return request;
}

/** Opens and closes the assistant beside the page. */
export function useAssistant() {
  const { isOpen } = useAssistantState();
  return useMemo(
    () => ({
      isOpen,
      open: (request: AssistantRequest = {}) => {
        change({ request });
        setOpen(true);
      },
      close: () => setOpen(false),
      /** Closes it where it lies over the page, as on a phone: somebody wants to see something there. */
      makeWay: () => {
        if (state.isOpen && !matchMedia("(width >= 48rem)").matches) setOpen(false);
      },
    }),
    [isOpen],
  );
}

/**
 * Tells the assistant what is open and selected here, as long as it is drawn; what is drawn later adds to it.
 */
export function AssistantContext({ value }: { value: AssistantPlace }) {
  const key = useId();
  const text = JSON.stringify(value);
  useEffect(() => {
    const tell = () => change({ place: Object.assign({}, ...places.values()) });
    places.set(key, JSON.parse(text));
    tell();
    return () => {
      places.delete(key);
      tell();
    };
  }, [key, text]);
  return null;
}

/** Tells pages which workflow the thread on the screen is about, as long as it is drawn. */
export function useSubject(workflowId: string | null): void {
  useEffect(() => {
    change({ subject: workflowId });
    return () => change({ subject: null });
  }, [workflowId]);
}

/** Tells pages that the assistant is at work in the thread on the screen; so that its end is told, it stays told when that is closed. */
export function useAtWork(threadId: string | null): void {
  useEffect(() => change({ atWork: threadId }), [threadId]);
}

/**
 * Takes over showing and deciding proposals for a workflow, as long as it is drawn; give it the same object each time.
 */
export function useProposalDesk(desk: ProposalDesk | null): void {
  useEffect(() => {
    if (!desk) return;
    change({ desk });
    return () => {
      if (state.desk === desk) change({ desk: null });
    };
  }, [desk]);
}
