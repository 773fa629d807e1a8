import type { Metadata } from "next";
import { PutAsideSettings } from "#components/settings/put-aside-settings.tsx";

export const metadata: Metadata = { title: "Put aside" };

export default PutAsideSettings;
