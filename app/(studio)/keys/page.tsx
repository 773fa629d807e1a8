import type { Metadata } from "next";
import { KeysPage } from "#components/keys/keys-page.tsx";

export const metadata: Metadata = { title: "LLM keys" };

export default KeysPage;
