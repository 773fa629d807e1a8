CREATE TYPE "BudgetScope" AS ENUM ('project', 'agent', 'llm_key');
CREATE TYPE "BudgetAction" AS ENUM ('pause', 'stop');

ALTER TABLE "projects" ADD COLUMN "prices" JSONB NOT NULL DEFAULT '[]';

-- Usage knows by which LLM key it came. What was counted before does not, and counts at no key.
ALTER TABLE "usage_calls" ADD COLUMN "llm_key_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
ALTER TABLE "usage_days" ADD COLUMN "llm_key_id" UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
ALTER TABLE "usage_days" DROP CONSTRAINT "usage_days_pkey",
ADD CONSTRAINT "usage_days_pkey" PRIMARY KEY ("project_id","day","source","workflow_id","agent_id","llm_key_id","provider","model");

CREATE TABLE "budgets" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "scope" "BudgetScope" NOT NULL,
    "agent_id" UUID,
    "llm_key_id" UUID,
    "monthly_limit" DECIMAL(24,12) NOT NULL,
    "action" "BudgetAction" NOT NULL,
    "month" DATE NOT NULL,
    "spent" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "held" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "budgets_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "budgets_agent_id_key" ON "budgets"("agent_id");
CREATE UNIQUE INDEX "budgets_llm_key_id_key" ON "budgets"("llm_key_id");
CREATE UNIQUE INDEX "budgets_project_key" ON "budgets"("project_id") WHERE (scope = 'project');
CREATE INDEX "budgets_project_id_idx" ON "budgets"("project_id");
ALTER TABLE "budgets" ADD CONSTRAINT "budgets_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "budgets" ADD CONSTRAINT "budgets_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "budgets" ADD CONSTRAINT "budgets_llm_key_id_fkey" FOREIGN KEY ("llm_key_id") REFERENCES "llm_keys"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "budget_holds" (
    "id" UUID NOT NULL,
    "budget_ids" UUID[],
    "execution_id" UUID,
    "amount" DECIMAL(24,12) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "budget_holds_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "budget_holds_expires_at_idx" ON "budget_holds"("expires_at");

CREATE TABLE "budget_allowances" (
    "execution_id" UUID NOT NULL,
    "amount" DECIMAL(24,12) NOT NULL,
    "spent" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "held" DECIMAL(24,12) NOT NULL DEFAULT 0,

    CONSTRAINT "budget_allowances_pkey" PRIMARY KEY ("execution_id")
);
ALTER TABLE "budget_allowances" ADD CONSTRAINT "budget_allowances_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A node may wait for its budget more than once, but for one thing at a time.
DROP INDEX "waits_execution_id_node_id_iteration_key";
CREATE UNIQUE INDEX "waits_open_key" ON "waits"("execution_id", "node_id", "iteration") WHERE (status = 'waiting');
CREATE INDEX "waits_execution_id_node_id_iteration_idx" ON "waits"("execution_id", "node_id", "iteration");
