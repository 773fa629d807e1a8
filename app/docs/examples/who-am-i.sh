curl -sS $TREADLE_URL/auth/me -H "Authorization: Bearer $TREADLE_KEY"
