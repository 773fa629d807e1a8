"use client";

import { useState } from "react";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { Button } from "#components/ui/button.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

const DeleteAccountDialog = loadedOnUse(() =>
  import("#components/settings/delete-account-dialog.tsx").then((module) => module.DeleteAccountDialog),
);

/** The way out. */
export function DeleteAccount() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <SettingsSection
      title="Delete your account"
      description="You are signed out everywhere and your API keys stop working."
      action={
        <Button onClick={() => setIsOpen(true)} className="text-failed">
          Delete account
        </Button>
      }
    >
      {isOpen && <DeleteAccountDialog onClose={() => setIsOpen(false)} />}
    </SettingsSection>
  );
}
