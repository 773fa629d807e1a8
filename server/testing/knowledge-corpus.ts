// A small handbook and questions about it, to measure how well a search finds. Questions are put in other words than the
// text where people would; some texts are near each other on purpose. Written for this project.

/** Documents by title, Markdown. */
export const handbook: Record<string, string> = {
  Holidays:
    "# Holidays\n\nEverybody has 28 days of paid holiday each year. Days that are left over at the end of December may be taken until the end of March; after that they lapse.\n\n## How to ask\n\nSend the dates to your team lead at least two weeks ahead. More than three weeks in a row must be agreed with the whole team.",
  "Sick leave":
    "# Sick leave\n\nTell your team lead before nine in the morning when you are ill. From the fourth day on we need a certificate from a physician.\n\n## A sick child\n\nParents may stay at home for up to ten days a year to look after a child that is ill.",
  "Working hours":
    "# Working hours\n\nCore time is from ten to three. Outside of it you choose yourself when you work. Overtime is written down and taken as time off within three months.\n\n## Working from home\n\nUp to three days a week may be worked from home. Wednesdays are for everyone to be in the office.",
  Expenses:
    "# Expenses\n\nReceipts are photographed and uploaded within thirty days. Meals on journeys are paid up to 40 euros a day.\n\n## Trains and planes\n\nTake the train for journeys of less than five hours. First class is paid when the ride is longer than three hours. Flights need the consent of the finance team.\n\n## Own car\n\nFor each kilometre with your own car you get 30 cents.",
  Laptops:
    "# Laptops\n\nEvery three years you may choose a new laptop. The old one can be bought for a tenth of its price.\n\n## Lost or stolen\n\nReport a lost or stolen device to security at once, at any hour, by calling 4477. It is then wiped from afar.",
  Passwords:
    "# Passwords\n\nUse the password manager; never write passwords into mails or chats. A password has at least fourteen characters.\n\n## Two factors\n\nSigning in needs a second factor: a hardware token or the app. Who has lost the token gets a one-time code from the service desk after showing an identity card on video.",
  Visitors:
    "# Visitors\n\nGuests are met at the reception and wear a badge. They may use the wireless network called Loom-Guest; its password changes every Monday and hangs at the reception.",
  Meetings:
    "# Meetings\n\nA meeting has an agenda and somebody who takes notes. Rooms are booked in the calendar; a room that nobody has entered after ten minutes is free again.",
  Kitchen:
    "# Kitchen\n\nPut your cups into the dishwasher, and start it when it is full. The coffee machine is cleaned every Friday by the team whose week it is. Food in the fridge without a name is thrown away on Friday evening.",
  Parking:
    "# Parking\n\nThere are twelve spaces in the yard, given by lot each quarter. Bicycles stand in the cellar, where there are sockets for electric ones.",
  Fire: "# Fire\n\nWhen the alarm sounds, leave by the stairs, never by the lift. The assembly point is in front of the bakery across the street. Extinguishers hang beside every door to the staircase.",
  "First aid":
    "# First aid\n\nThe box with bandages is in the kitchen above the sink; the defibrillator is at the reception. Accidents at work are written into the book beside the box, small ones too.",
  Onboarding:
    "# Onboarding\n\nOn the first day you get your laptop, your badge and a buddy who answers questions for the first three months. The probation period is six months.",
  Leaving:
    "# Leaving\n\nThe notice period is three months to the end of a month. On the last day laptop, badge and keys are handed back. You get a reference letter within two weeks.",
  Parents:
    "# Parents\n\nParental leave can be taken by mothers and fathers until the child is eight. Who comes back may work part time for as long as he or she likes.",
  Learning:
    "# Learning\n\nEach person has 1,500 euros and five days a year for courses, books and conferences. The money does not carry over into the next year.",
  Bonus: "# Bonus\n\nA yearly bonus of up to one month's salary is paid in April when the company's goals have been reached.",
  Salary:
    "# Salary\n\nSalaries are paid on the 25th of each month. Raises are talked about once a year, in October, and hold from January.",
  Incidents:
    "# Incidents\n\nWhoever notices an outage opens a channel named after the date and calls the engineer on duty. Customers are told within thirty minutes on the status page.\n\n## Afterwards\n\nWithin five working days a review is written that blames nobody. Error code LM-4012 means that the message queue is full: restart the consumer, never the broker.",
  Deploying:
    "# Deploying\n\nChanges are merged after one approval and go live by themselves within twenty minutes. Nothing is deployed on Fridays after two o'clock.\n\n## Going back\n\nA bad release is rolled back with the command `loom rollback`, which takes the version before. Database migrations are never undone; write a new one.",
  Backups:
    "# Backups\n\nThe database is copied every six hours to another country and kept for thirty days. A restore is practised on the first Tuesday of each quarter.",
  Privacy:
    "# Privacy\n\nPersonal data of customers is deleted ninety days after the contract has ended. Requests of people who want to know what we store about them go to the privacy officer and are answered within a month.",
  Invoices:
    "# Invoices\n\nCustomers pay within fourteen days. The first reminder is sent a week after that, and the third one goes to the lawyer.",
  Refunds:
    "# Refunds\n\nWithin thirty days of the purchase a customer gets all the money back without giving a reason. Later than that the unused months are paid back.",
  Support:
    "# Support\n\nThe hotline is answered from eight to six. Letters of complaint are answered within two working days, by name. Plan Gold has a reply within an hour, at night as well.",
  Reisekosten:
    "# Reisekosten\n\nBelege werden innerhalb von dreißig Tagen eingereicht. Übernachtungen werden bis 120 Euro erstattet, das Frühstück eingeschlossen. Der Vorschuss muss eine Woche vor der Abreise beantragt werden.",
  Brandschutz:
    "# Brandschutz\n\nBei Feueralarm verlassen alle das Gebäude über die Treppe. Die Fluchttüren dürfen nie zugestellt sein. Der Sammelplatz liegt vor der Bäckerei.",
  Kantine:
    "# Kantine\n\nDas Mittagessen kostet vier Euro. Vegetarische Gerichte gibt es jeden Tag, Fisch am Freitag. Gäste bezahlen mit der Besucherkarte.",
  Congés:
    "# Congés\n\nLes salariés de Lyon ont vingt-cinq jours de congés payés. Les demandes sont envoyées au responsable un mois à l'avance. Les jours non pris sont perdus fin mai.",
  Télétravail:
    "# Télétravail\n\nLe télétravail est possible deux jours par semaine. L'entreprise rembourse une chaise de bureau et un écran.",
  Vacaciones:
    "# Vacaciones\n\nLos empleados de Madrid tienen veintitrés días laborables de vacaciones. En agosto la oficina cierra dos semanas.",
  Отпуск:
    "# Отпуск\n\nСотрудники получают двадцать восемь дней отпуска. Заявление подаётся за две недели. Больничный лист приносят в бухгалтерию.",
  出张: "# 出差\n\n出差前需要经理批准。火车票可以报销二等座，酒店每晚最多五百元。发票要在三十天内交给财务部。",
};

/** Questions, each with the title of the document that answers it. */
export const questions: [question: string, title: string][] = [
  ["How many vacation days do I get?", "Holidays"],
  ["What happens to holiday that I did not take by the end of the year?", "Holidays"],
  ["When do I need a doctor's certificate?", "Sick leave"],
  ["My kid is ill, can I stay at home?", "Sick leave"],
  ["How often can I work from home?", "Working hours"],
  ["What is done with overtime?", "Working hours"],
  ["How much do I get per kilometer with my own car?", "Expenses"],
  ["May I travel first class by train?", "Expenses"],
  ["My notebook was stolen, whom do I call?", "Laptops"],
  ["Can I buy my old laptop?", "Laptops"],
  ["I lost my hardware token", "Passwords"],
  ["minimum length of a password", "Passwords"],
  ["wifi password for guests", "Visitors"],
  ["Nobody came to the room that was booked", "Meetings"],
  ["Who cleans the coffee machine?", "Kitchen"],
  ["Where can I charge my electric bike?", "Parking"],
  ["Where do we gather when there is a fire alarm?", "Fire"],
  ["Where is the defibrillator?", "First aid"],
  ["Where do I record an accident at work?", "First aid"],
  ["How long is probation?", "Onboarding"],
  ["notice period when quitting", "Leaving"],
  ["Can fathers take parental leave?", "Parents"],
  ["budget for conferences and books", "Learning"],
  ["When is the bonus paid?", "Bonus"],
  ["On which day of the month do we receive our salaries?", "Salary"],
  ["What does LM-4012 mean?", "Incidents"],
  ["How fast are customers informed about an outage?", "Incidents"],
  ["How do I roll back a release?", "Deploying"],
  ["Can I deploy on Friday afternoon?", "Deploying"],
  ["How long are database backups kept?", "Backups"],
  ["When is customers' personal data deleted?", "Privacy"],
  ["How many days do customers have to pay an invoice?", "Invoices"],
  ["A customer wants the money back", "Refunds"],
  ["response time of the Gold plan", "Support"],
  ["Bis wann muss ich Belege einreichen?", "Reisekosten"],
  ["Wird das Frühstück bei der Übernachtung bezahlt?", "Reisekosten"],
  ["Wo ist der Sammelplatz bei Feuer?", "Brandschutz"],
  ["Was kostet das Essen mittags?", "Kantine"],
  ["Combien de jours de congé ai-je à Lyon ?", "Congés"],
  ["Est-ce que l'entreprise paie un écran ?", "Télétravail"],
  ["¿Cuántos días de vacaciones hay en Madrid?", "Vacaciones"],
  ["¿Cuándo cierra la oficina?", "Vacaciones"],
  ["Куда принести больничный?", "Отпуск"],
  ["出差的酒店可以报销多少？", "出张"],
  ["发票什么时候交？", "出张"],
];
