// What the choices of a review mean. Apart from their schema, so that a page that shows them loads no zod.

/** Whether a choice is a No: one of them decides, whatever the quorum. */
export const isRejecting = ({ id, style }: { id: string; style: string }): boolean => style === "danger" || id === "rejected";

export const choiceName = ({ id, label }: { id: string; label: string }): string => label.trim() || id;
