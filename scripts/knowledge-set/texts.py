"""The texts of the knowledge set."""

PUMPS = [
    {"model": "P-120", "bar": 6, "temp": 70, "torque": 12, "seal": "NBR", "oil": 0.4, "hours": 2000, "code": "E07", "fuse": 10, "noise": 58},
    {"model": "P-240", "bar": 10, "temp": 90, "torque": 18, "seal": "EPDM", "oil": 0.7, "hours": 3000, "code": "E12", "fuse": 16, "noise": 63},
    {"model": "P-340", "bar": 16, "temp": 110, "torque": 25, "seal": "FKM", "oil": 1.1, "hours": 4000, "code": "E21", "fuse": 25, "noise": 69},
    {"model": "P-500", "bar": 25, "temp": 140, "torque": 42, "seal": "PTFE", "oil": 1.9, "hours": 5000, "code": "E33", "fuse": 35, "noise": 74},
    {"model": "S-80", "bar": 4, "temp": 40, "torque": 8, "seal": "silicone", "oil": 0.2, "hours": 1500, "code": "E41", "fuse": 6, "noise": 45},
    {"model": "S-160", "bar": 8, "temp": 60, "torque": 14, "seal": "HNBR", "oil": 0.5, "hours": 2500, "code": "E52", "fuse": 13, "noise": 51},
    {"model": "V-90", "bar": 3, "temp": 35, "torque": 6, "seal": "graphite", "oil": 0.3, "hours": 1200, "code": "E60", "fuse": 4, "noise": 40},
    {"model": "V-300", "bar": 12, "temp": 95, "torque": 30, "seal": "ceramic", "oil": 1.4, "hours": 3500, "code": "E77", "fuse": 20, "noise": 66},
]

MANUAL = [
    ("Safety", [
        "Only trained staff may work on the {model}. Disconnect the {model} from the mains before you open the housing, and wait until "
        "the shaft has stopped.",
        "The surface may be hot. Wear gloves when the medium is warmer than 60 degrees. The sound pressure level of the {model} is "
        "{noise} dB(A) at a distance of one metre.",
    ]),
    ("Installation", [
        "Place the {model} on a level foundation that carries its weight. Leave half a metre of space on the side of the motor.",
        "Tighten the flange screws of the {model} crosswise with a torque of {torque} Nm. Protect the supply with a slow fuse of "
        "{fuse} A.",
        "Fill the suction line before the first start; the pump must never run dry.",
    ]),
    ("Operation", [
        "The {model} is built for a maximum operating pressure of {bar} bar and a maximum temperature of the medium of {temp} degrees "
        "Celsius.",
        "Open the suction valve completely, start the motor, and then open the pressure valve slowly until the working point is reached.",
    ]),
    ("Maintenance", [
        "Change the oil of the {model} after {hours} operating hours. The gearbox takes {oil} litres of oil of the class ISO VG 220.",
        "The shaft seal of the {model} is of {seal}. Replace it when it leaks more than three drops a minute.",
    ]),
    ("Faults", [
        "If the display of the {model} shows {code}, the motor was switched off because of overload. Let it cool down for 30 minutes, "
        "clean the strainer, and acknowledge the fault with the blue key.",
        "If the pump is loud, the inlet pressure is too low: check the level of the tank and the foot valve.",
    ]),
]

MANUAL_QUESTIONS = [
    ("What is the maximum operating pressure of the P-340?", "P-340", 3),
    ("With which torque are the flange screws of the P-500 tightened?", "P-500", 2),
    ("How much oil does the gearbox of the V-300 take?", "V-300", 4),
    ("After how many operating hours is the oil of the S-80 changed?", "S-80", 4),
    ("What does E52 on the display mean?", "S-160", 5),
    ("How loud is the P-120?", "P-120", 1),
    ("Which fuse protects the supply of the P-240?", "P-240", 2),
    ("Of which material is the shaft seal of the V-90?", "V-90", 4),
    ("The display shows E33. What should I do?", "P-500", 5),
    ("How hot may the medium in a V-300 be?", "V-300", 3),
]

CUSTOMERS = [
    ("Brauerei Lindental", "Bamberg"), ("Molkerei Nordsee", "Husum"), ("Papierfabrik Aue", "Aue"), ("Hafenwerke Emden", "Emden"),
    ("Stadtwerke Ulm", "Ulm"), ("Chemie Rheinfeld", "Leverkusen"), ("Zuckerfabrik Calbe", "Calbe"), ("Weingut Moselblick", "Trier"),
    ("Klinikum Sankt Anna", "Passau"), ("Bergbau Lausitz", "Cottbus"), ("Gartenbau Vierlande", "Hamburg"), ("Textil Albstadt", "Albstadt"),
]

WORKBOOKS = [
    ("price-list.xlsx", "Prices", ["Article", "Name", "Price EUR", "Discount class"],
     [[f"{40000 + 7 * n}", f"{kind} for {pump['model']}", 12.5 + 3 * n, "ABC"[n % 3]]
      for n, (pump, kind) in enumerate((p, k) for p in PUMPS for k in ("seal kit", "impeller", "bearing set", "coupling", "strainer"))],
     [("What is the price of an impeller for the S-160?", "sheet Prices"), ("Which article is 40231?", "cells A22:D41"),
      ("bearing set for V-90, discount class", "sheet Prices")]),
    ("test-bench.xlsx", "Measurements", ["Serial number", "Model", "Flow m3/h", "Head m", "Inspector"],
     [[f"SN-{1000 + 13 * n}", PUMPS[n % 8]["model"], 5 + n % 17, 20 + (n * 3) % 45, ["Okafor", "Lindqvist", "Marchetti", "Novak"][n % 4]]
      for n in range(120)],
     [("Who inspected the pump with serial number SN-1728?", "cells"), ("head and flow of SN-2300", "cells A102:E121")]),
    ("holidays.xlsx", "Plan", ["Employee", "Department", "First day", "Last day"],
     [["Amara Okafor", "Test bench", "2026-07-06", "2026-07-24"], ["Jonas Lindqvist", "Test bench", "2026-08-03", "2026-08-14"],
      ["Chiara Marchetti", "Quality", "2026-06-15", "2026-06-26"], ["Petr Novak", "Service", "2026-09-07", "2026-09-18"]],
     [("When is Chiara Marchetti on holiday?", "sheet Plan")]),
    ("budget.xlsx", "2026", ["Cost centre", "Responsible", "Planned EUR", "Spent EUR"],
     [["4100 Research", "Ines Duarte", 420000, 198500], ["4200 Marketing", "Oskar Brandt", 155000, 91200],
      ["4300 Training", "Mei Tanaka", 38000, 12750], ["4400 Fleet", "Ruth Adeyemi", 97000, 60110]],
     [("How much is planned for training, and who is responsible?", "cells"), ("cost centre of the fleet", "cells")]),
    ("tools.xlsx", "Calibration", ["Tool", "Inventory", "Next calibration", "Laboratory"],
     [["Torque wrench 5-50 Nm", "T-017", "2026-11-30", "Metrolab"], ["Pressure gauge 40 bar", "T-022", "2026-05-15", "Kalibra"],
      ["Caliper 150 mm", "T-031", "2027-01-20", "Metrolab"], ["Sound level meter", "T-044", "2026-08-01", "Akustika"]],
     [("When is the sound level meter calibrated again?", "sheet Calibration"), ("inventory number of the torque wrench", "cells")]),
]

POLICIES = [
    ("travel", "Travel policy", [
        ("Booking", ["Trips are booked through the travel office at least ten days in advance. Journeys of less than five hours are made by train."]),
        ("Daily allowance", ["The allowance depends on the country.",
            [["Country", "Full day", "Half day"], ["Germany", "28 EUR", "14 EUR"], ["Switzerland", "66 EUR", "44 EUR"], ["Japan", "52 EUR", "35 EUR"]]]),
        ("Hotels", ["A night may cost up to 130 EUR, in Zurich, London and Tokyo up to 210 EUR. Breakfast is deducted from the allowance."])]),
    ("leave", "Leave policy", [
        ("Annual leave", ["Everyone has 30 days of leave a year. Up to eight days can be carried over until the end of March."]),
        ("Parental leave", ["Parents announce their leave seven weeks before it begins. The company pays the pension contributions for six months."]),
        ("Sick leave", ["Call your supervisor before nine. A medical certificate is needed from the third day."])]),
    ("security", "Information security", [
        ("Passwords", ["Passwords have at least 14 characters and are kept in the password manager. A second factor is required for remote access."]),
        ("Devices", ["Laptops are encrypted. The loss of a device is reported to the hotline 4455 within one hour."]),
        ("Visitors", ["Visitors wear a yellow badge and are accompanied at all times."])]),
    ("procurement", "Procurement", [
        ("Offers", ["From 5,000 EUR on, three offers are compared. From 50,000 EUR on, the management board signs."]),
        ("Suppliers", ["New suppliers answer the questionnaire on conflict minerals and send a copy of their ISO 9001 certificate."])]),
    ("remote-work", "Working from home", [
        ("Extent", ["Up to three days a week can be worked from home. The team agrees on one common day in the office."]),
        ("Equipment", ["The company lends a monitor, a headset and a chair. It pays 25 EUR a month for electricity and the network."])]),
    ("expenses", "Expenses", [
        ("Receipts", ["Receipts are photographed and uploaded within 30 days. Tips are refunded up to ten percent."]),
        ("Mileage", ["A private car is refunded with 0.38 EUR per kilometre, a bicycle with 0.10 EUR."])]),
    ("onboarding", "Onboarding", [
        ("First week", ["New colleagues get a mentor, a tour of the foundry, and safety shoes on the first day."]),
        ("Probation", ["Probation lasts six months, with talks after six weeks and after five months."])]),
]

POLICY_QUESTIONS = [
    ("What is the daily allowance for a full day in Switzerland?", "travel", "Daily allowance"),
    ("How much may a hotel in Tokyo cost?", "travel", "Hotels"),
    ("Until when can leave be carried over?", "leave", "Annual leave"),
    ("From which day on is a medical certificate needed?", "leave", "Sick leave"),
    ("My laptop was stolen. Whom do I call?", "security", "Devices"),
    ("When does the management board have to sign a purchase?", "procurement", "Offers"),
    ("How many days can I work from home?", "remote-work", "Extent"),
    ("What is refunded per kilometre with a bicycle?", "expenses", "Mileage"),
    ("When do new colleagues get safety shoes?", "onboarding", "First week"),
]

ARTICLES = [
    ("dry-run", "Why pumps must not run dry", [
        ("What happens", "<p>Without liquid, the seal heats up within <b>40 seconds</b> and cracks.</p>"),
        ("Protection", "<p>The sensor DR-2 switches the motor off. Set its delay to five seconds.</p>")]),
    ("cavitation", "Cavitation", [
        ("How to recognize it", "<p>It sounds like gravel in the housing, and the impeller shows small craters.</p>"),
        ("Remedy", "<p>Lower the temperature of the medium, raise the level of the tank, or shorten the suction line.</p>")]),
    ("food", "Pumps for food", [
        ("Approvals", "<table><tr><th>Approval<th>Models<th>Valid until<tr><td>EHEDG<td>S-80, S-160<td>2028<tr><td>3-A<td>S-160<td>2027</table>"),
        ("Cleaning", "<p>Clean in place with 2 % caustic soda at 75 degrees, then rinse with water of drinking quality.</p>")]),
    ("warranty", "Warranty", [
        ("Duration", "<p>We give a warranty of 24 months, and of 60 months if the pump is registered within four weeks.</p>"),
        ("Claims", "<p>Send photographs and the serial number to claims@pumps.example; returns need an RMA number.</p>")]),
    ("frequency-inverter", "Frequency inverters", [
        ("Parameters", "<table><tr><th>Parameter<th>Meaning<th>Factory setting<tr><td>P0304<td>motor voltage<td>400<tr><td>P1080<td>lowest frequency<td>18<tr><td>P1120<td>ramp-up time<td>12</table>"),
        ("Cables", "<p>Use shielded cables of at most 50 metres, and ground the shield at both ends.</p>")]),
    ("spare-parts", "Ordering spare parts", [
        ("Shop", "<p>Orders before 14:00 leave the warehouse in Gera on the same day.</p>"),
        ("Old models", "<p>Parts for the K series, which was built until 2009, are made on demand within eight weeks.</p>")]),
]

ARTICLE_QUESTIONS = [
    ("How quickly does a seal crack without liquid?", "dry-run", "What happens"),
    ("It sounds like gravel in the pump. What is that?", "cavitation", "How to recognize it"),
    ("Until when is the EHEDG approval valid?", "food", "Approvals"),
    ("How do I get a warranty of 60 months?", "warranty", "Duration"),
    ("What is the factory setting of P1120?", "frequency-inverter", "Parameters"),
    ("How long does it take to get parts of the K series?", "spare-parts", "Old models"),
]

CHINESE_CITIES = ["苏州", "成都", "武汉", "西安", "青岛", "长沙", "大连", "厦门"]
JAPANESE_CITIES = ["札幌", "仙台", "横浜", "名古屋", "京都", "神戸", "広島", "福岡"]

VALUES = [
    ("customers-cn.csv", "gbk", ["客户编号", "客户名称", "城市", "联系人", "信用等级"],
     [[f"KH{100 + n}", name, CHINESE_CITIES[n % 8], person, "甲乙丙"[n % 3]] for n, (name, person) in enumerate(zip(
         ["东湖酒业", "蜀香食品", "长江造纸", "秦岭矿业", "海滨化工", "湘江水务", "金州纺织", "鹭岛医院", "太湖乳业", "泰山钢铁", "黄河制糖", "南岭农业"],
         ["王建国", "李秀英", "张伟", "刘洋", "陈静", "杨帆", "赵磊", "黄敏", "周涛", "吴丽", "徐强", "孙悦"]))],
     [("海滨化工的联系人是谁？", "line"), ("鹭岛医院的信用等级", "line"), ("KH108 是哪个客户？", "line")]),
    ("stock-cn.csv", "gbk", ["物料号", "名称", "仓库", "库存数量", "安全库存"],
     [[f"WL-{2000 + 11 * n}", name, f"{'一二三'[n % 3]}号库", 15 * n + 8, 20 + n] for n, name in enumerate(
         ["机械密封", "叶轮", "轴承", "联轴器", "滤网", "压力表", "止回阀", "变频器", "电机", "底座", "法兰螺栓", "润滑油", "温度传感器", "干转保护器"])],
     [("变频器的库存数量是多少？", "line"), ("润滑油在哪个仓库？", "line"), ("WL-2066 是什么物料", "line")]),
    ("staff-cn.csv", "gb18030", ["工号", "姓名", "部门", "入职日期", "分机"],
     [[f"G{300 + n}", name, dept, f"20{10 + n}-0{1 + n % 9}-15", 6600 + n] for n, (name, dept) in enumerate([
         ("郑浩", "研发部"), ("何雪", "质量部"), ("罗斌", "售后服务部"), ("梁燕", "采购部"), ("宋杰", "财务部"), ("唐欣", "人事部"), ("韩冰", "试验台")])],
     [("售后服务部罗斌的分机号", "line"), ("谁在采购部工作？", "line")]),
    ("suppliers-cn.csv", "gbk", ["供应商", "产品", "交货周期（天）", "付款方式"],
     [["宁波铸造厂", "泵壳", 45, "月结60天"], ["无锡电机", "电机", 30, "预付30%"], ["温州密封件", "机械密封", 14, "货到付款"], ["洛阳轴承", "轴承", 21, "月结30天"]],
     [("泵壳的交货周期是多少天？", "line"), ("温州密封件怎么付款？", "line")]),
    ("customers-jp.csv", "shift_jis", ["顧客番号", "顧客名", "都市", "担当者", "電話"],
     [[f"C{500 + n}", name, JAPANESE_CITIES[n % 8], person, f"0{3 + n}-5550-{1100 + n}"] for n, (name, person) in enumerate(zip(
         ["北海乳業", "杜の都酒造", "港南化学", "中部製紙", "鴨川食品", "六甲鉱業", "瀬戸内水産", "博多病院"],
         ["佐藤健", "鈴木花子", "高橋誠", "田中美咲", "伊藤翔", "渡辺葵", "山本大輔", "中村優"]))],
     [("瀬戸内水産の担当者は誰ですか？", "line"), ("中部製紙の電話番号", "line")]),
    ("shipments-jp.csv", "shift_jis", ["出荷番号", "製品", "数量", "出荷日", "運送会社"],
     [[f"S-{7000 + 3 * n}", PUMPS[n % 8]["model"], 1 + n % 6, f"2026-0{1 + n % 9}-1{n % 9}", ["青山運輸", "東海急便", "白猫便"][n % 3]] for n in range(24)],
     [("S-7033 の運送会社はどこですか？", "line"), ("出荷番号 S-7060 の数量", "line")]),
    ("inspections-jp.csv", "cp932", ["点検番号", "設備", "点検者", "結果", "次回点検"],
     [["T-01", "天井クレーン", "小林", "合格", "2026-10-01"], ["T-02", "圧縮機", "加藤", "要修理", "2026-04-20"], ["T-03", "消火器", "吉田", "合格", "2027-02-15"],
      ["T-04", "フォークリフト", "松本", "合格", "2026-12-05"]],
     [("要修理の設備はどれですか？", "line"), ("フォークリフトの次回点検はいつ？", "line")]),
    ("vehicles.csv", "utf-8", ["Plate", "Vehicle", "Driver", "Next inspection"],
     [["GR-PU 101", "Transporter", "Petr Novak", "2026-09"], ["GR-PU 102", "Estate car", "Ruth Adeyemi", "2027-03"], ["GR-PU 103", "Electric van", "Oskar Brandt", "2026-12"]],
     [("Who drives the electric van?", "line")]),
]

_STEPS = "\n".join(f"{n}. Check cell {n} of the battery room and write the voltage into the sheet." for n in range(1, 40))

NOTES = [
    ("restore-erp.md", f"""# Restoring the ERP system

## Before you start

Tell the plant manager, and stop the terminals in the warehouse.

## Restore

Mount the backup of the night with `mount-backup --latest`, and start `erp-restore` as the user *erp*. It takes about 50 minutes.

## Afterwards

Compare the number of open orders with the printed list of the evening shift.

## Emergency power

{_STEPS}

If the diesel generator does not start, the spare key is in cabinet 14 of the gatehouse.
""", [("How long does it take to restore the ERP system?", "Restore"), ("Where is the spare key of the diesel generator?", "Emergency power")]),
    ("adr-017.md", """---
title: Decision 17, one message broker
tags: [decision]
---

# Context

Three plants run three brokers.

# Decision

All plants use NATS. Kafka was too heavy for the edge computers, and MQTT has no replay.

# Consequences

The plant in Gera migrates first, in October.
""", [("Why was Kafka not chosen as message broker?", "Decision"), ("Which plant migrates its broker first?", "Consequences")]),
    ("meeting-2026-03-11.md", """# Quality meeting, 11 March 2026

- Complaints about the S-160: eleven in February, most of them leaking seals from one batch.
- Marchetti will test seals of another supplier until the end of April.
- The audit by the certification body is on 19 May.
""", [("When is the audit by the certification body?", "line"), ("How many complaints about leaking seals were there in February?", "line")]),
    ("glossary.md", """# Glossary

## NPSH

Net positive suction head: the pressure above the vapour pressure that a pump needs at its inlet.

## Duty point

The point at which the curve of the pump and that of the pipes meet.

## 比转速

比转速用于比较不同尺寸的叶轮。
""", [("What does NPSH mean?", "NPSH"), ("比转速用来做什么？", "比转速")]),
    ("letter.txt", """Dear Ms Duarte,

thank you for the visit of the research department. As agreed, we lend you the climate chamber from 4 to 29 May. The transport is
organised by our forwarding agent Kestrel Logistics.

Yours sincerely,
Prof. Aldous Whitcombe
""", [("Who organises the transport of the climate chamber?", "line")]),
    ("開発メモ.md", """# 開発メモ

## 新しい羽根車

樹脂製の羽根車は重さが四割軽く、効率が二パーセント高い。

## 試験計画

耐久試験は六月に始まり、三千時間続く。
""", [("樹脂製の羽根車はどのくらい軽いですか？", "新しい羽根車"), ("耐久試験は何時間続きますか？", "試験計画")]),
]
