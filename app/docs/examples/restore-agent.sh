curl -sS $TREADLE_URL/agents/$AGENT_ID/versions -H "Authorization: Bearer $TREADLE_KEY"
curl -sS -X POST $TREADLE_URL/agents/$AGENT_ID/versions/1/restore -H "Authorization: Bearer $TREADLE_KEY"
