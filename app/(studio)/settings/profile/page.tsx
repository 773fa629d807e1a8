import type { Metadata } from "next";
import { ProfileSettings } from "#components/settings/profile-settings.tsx";

export const metadata: Metadata = { title: "Profile" };

export default ProfileSettings;
