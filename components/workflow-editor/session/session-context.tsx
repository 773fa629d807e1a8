"use client";

import { createContext, type ReactNode, useContext } from "react";
import { useStore } from "zustand";
import type { EditorSession, SessionState } from "#components/workflow-editor/session/editor-session.ts";

const SessionContext = createContext<EditorSession | null>(null);

export function SessionProvider({ session, children }: { session: EditorSession; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): EditorSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error("This part of the editor needs a SessionProvider around it.");
  return session;
}

export const useSessionState = <Part,>(select: (state: SessionState) => Part): Part => useStore(useSession().store, select);
