import type { WorkflowTemplate } from "#server/features/workflow-files/schema.ts";
import { incidentCommander, supportTriage } from "#server/features/workflow-files/templates/operations.ts";
import { dailyDigest, knowledgeAnswer, leadEnrichment, researchBrief } from "#server/features/workflow-files/templates/research.ts";
import { approvalDesk, batchLetters, nightlyReminder, webhookRouter } from "#server/features/workflow-files/templates/without-model.ts";
import { contentPipeline, meetingActions, translationLoop } from "#server/features/workflow-files/templates/writing.ts";

const items: WorkflowTemplate[] = [
  approvalDesk,
  webhookRouter,
  batchLetters,
  nightlyReminder,
  researchBrief,
  supportTriage,
  contentPipeline,
  meetingActions,
  knowledgeAnswer,
  dailyDigest,
  leadEnrichment,
  translationLoop,
  incidentCommander,
];

/** The workflows of the gallery; those that run without a model come first. */
export const listTemplates = (): { items: WorkflowTemplate[] } => ({ items });
