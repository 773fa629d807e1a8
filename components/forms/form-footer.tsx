"use client";

import type { ReactNode } from "react";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { Button } from "#components/ui/button.tsx";
import { DialogFooter } from "#components/ui/dialog.tsx";
import type { ErrorBody } from "#server/shared/error-schema.ts";

interface FormFooterProps {
  form: { failure: ErrorBody | null; isPending: boolean };
  /** While something above must be answered before it makes sense to send the form. */
  disabled?: boolean;
  children: ReactNode;
}

/** The end of a dialog's form: what the server said, and the button that sends it. */
export function FormFooter({ form, disabled = false, children }: FormFooterProps) {
  return (
    <>
      <FormFailure failure={form.failure} />
      <DialogFooter>
        <Button type="submit" variant="primary" isPending={form.isPending} disabled={disabled}>
          {children}
        </Button>
      </DialogFooter>
    </>
  );
}
