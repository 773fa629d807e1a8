"use client";

import { useStore } from "zustand";
import { createStrictContext } from "#components/ui/strict-context.ts";
import type { EditorSession, SessionState } from "#components/workflow-editor/session/editor-session.ts";

export const [SessionProvider, useSession] = createStrictContext<EditorSession>("SessionProvider");

export const useSessionState = <Part,>(select: (state: SessionState) => Part): Part => useStore(useSession().store, select);
