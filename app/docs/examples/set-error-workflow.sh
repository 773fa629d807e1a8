curl -sS -X PUT $TREADLE_URL/workflows/$WORKFLOW_ID \
  -H "Authorization: Bearer $TREADLE_KEY" -H "Content-Type: application/json" \
  -d "{\"error_workflow_id\": \"$ERROR_WORKFLOW_ID\"}"
