curl -sS -G $TREADLE_URL/audit \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -d resource_type=workflow -d action=workflow.update -d from=2026-01-01T00:00:00Z
