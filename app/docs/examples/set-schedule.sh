curl -sS -X PUT $TREADLE_URL/workflows/$WORKFLOW_ID/schedule \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"enabled": true, "cron_expression": "30 9 * * 1-5", "timezone": "Europe/Berlin"}'
